import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { files } from "../../../src/db/schema.ts";
import { filesHarness } from "../files/attachments.ts";

const large = (megabytes: number) => new Uint8Array(megabytes * 1024 * 1024);

test("the health tells how much the files have, and warns of agents that come near their bound", async () => {
  const h = await filesHarness();
  const bound = async (total: number) => {
    const json = { fileMegabytes: { total } };
    const { status } = await h.request("/api/installation/policies", { method: "PATCH", headers: h.headers, json });
    expect(status).toBe(200);
  };
  const told = async () => {
    const answer = await h.request("/api/installation/health", { headers: h.headers });
    const { checks } = (await answer.json()) as { checks: { name: string; status: string; message: string }[] };
    return checks.flatMap(({ name, status, message }) => (name === "files" ? [`${status}: ${message}`] : []));
  };
  expect(await told()).toEqual(["ok: None is stored on this machine"]);
  await bound(10);
  const first = await h.store({ bytes: large(4) });
  await h.store({ bytes: large(4) });
  expect(await told()).toEqual([`ok: 8 MB are on this machine; of the agents, ${h.slug} has 8 of 10 MB, the most`]);
  await h.store({ bytes: large(1) });
  expect(await told()).toEqual([
    `warn: ${h.slug} has 9 of 10 MB, and what would make more is refused: delete conversations, give the agent a bucket in S3, or raise the policy fileMegabytes`,
  ]);
  await h.db.update(files).set({ status: "deleting" }).where(eq(files.id, first.id));
  await h.db.update(files).set({ store: "s3" }).where(eq(files.status, "stored"));
  expect(await told()).toEqual(["ok: None is stored on this machine"]);
});
