import { eq } from "drizzle-orm";
import { expect, test, vi } from "vitest";
import { StorageRefusal } from "../../../src/core/errors.ts";
import { agents, conversations, files } from "../../../src/db/schema.ts";
import { spyOnStatements } from "../../statements.ts";
import { type FilesHarness, filesHarness } from "./attachments.ts";

const megabyte = 1024 * 1024;
const large = (megabytes: number) => new Uint8Array(megabytes * megabyte);

const allow = ({ services: { policies } }: FilesHarness, total: number, perUser: number) =>
  policies.set({ ...policies.values, fileMegabytes: { total, perUser } });

const refusal = (whose: string, megabytes: number) => ({
  status: 409,
  message: `There is no space left for the file: those of ${whose} have at most ${megabytes} MB on this machine (the policy fileMegabytes)`,
});

test("an agent's files fill their space to the last byte, and what is refused leaves nothing", async () => {
  const h = await filesHarness();
  allow(h, 5, 100);
  await h.store({ bytes: large(3) });
  const other = await h.conversation();
  await h.db.update(conversations).set({ subject: "web:eve" }).where(eq(conversations.id, other.id));
  await h.store({ bytes: large(2), conversation: other });
  const full = refusal("this agent", 5);
  await expect(h.store({ bytes: large(0).fill(1) })).resolves.toMatchObject({ size: 0 });
  await expect(h.store()).rejects.toMatchObject(full);
  // Files made by tools count, too.
  await expect(h.save({}, other.id)).rejects.toMatchObject(full);
  expect(await h.rows()).toHaveLength(3);
  expect(h.local.size).toBe(3);
});

test("one end user's files, of all conversations, leave space to others", async () => {
  const h = await filesHarness();
  allow(h, 100, 3);
  await h.store({ bytes: large(2) });
  const second = await h.conversation();
  await h.store({ bytes: large(1), conversation: second });
  await expect(h.store({ conversation: second })).rejects.toMatchObject(refusal("one person or group", 3));
  const other = await h.conversation();
  await h.db.update(conversations).set({ subject: "web:eve" }).where(eq(conversations.id, other.id));
  await h.store({ bytes: large(3), conversation: other });
});

test("a deleted conversation makes space, and another agent's files take none", async () => {
  const h = await filesHarness();
  allow(h, 2, 2);
  const json = { slug: "twin", name: "Twin", attachmentsEnabled: true };
  await h.request("/api/instances", { method: "POST", headers: h.headers, json });
  const [twin] = await h.db.select().from(agents).where(eq(agents.slug, "twin"));
  if (!twin) throw new Error("The other agent is not there");
  await h.store({ agent: twin, conversation: await h.conversation(twin), bytes: large(2) });
  await h.store({ bytes: large(2) });
  await expect(h.store()).rejects.toMatchObject(refusal("one person or group", 2));
  await h.db.update(files).set({ status: "deleting" }).where(eq(files.conversationId, h.home.id));
  await h.clock.jump(60_000);
  await h.store();
});

test("files that come at once count each other, and the stored ones are not added up for each", async () => {
  const h = await filesHarness();
  allow(h, 3, 100);
  const statements = spyOnStatements(h.services.database);
  const stores = await Promise.allSettled(Array.from({ length: 6 }, () => h.store({ bytes: large(1) })));
  expect(stores.map(({ status }) => status).sort()).toEqual([
    ...Array(3).fill("fulfilled"),
    ...Array(3).fill("rejected"),
  ]);
  expect(await h.rows()).toHaveLength(3);
  expect(statements.texts().filter((text) => text.includes("sum("))).toHaveLength(1);
});

test("of files that come at once as many are taken as fit, also where their sum has to be made anew", async () => {
  const h = await filesHarness();
  allow(h, 4, 100);
  const old = await h.store({ bytes: large(2) });
  await h.store({ bytes: large(2) });
  await h.db.update(files).set({ status: "deleting" }).where(eq(files.id, old.id));
  await h.clock.jump(60_000);
  const stores = await Promise.allSettled(Array.from({ length: 12 }, () => h.store({ bytes: large(1) })));
  expect(stores.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("a file being uploaded while the stored ones are added up anew counts, too", async () => {
  const h = await filesHarness();
  allow(h, 3, 100);
  await h.store({ bytes: large(1) });
  await h.clock.jump(60_000);
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  vi.spyOn(crypto.subtle, "digest").mockImplementationOnce(async (...given) => {
    reached.resolve();
    await held.promise;
    return digest(...given);
  });
  const slow = h.store({ bytes: large(2) });
  await reached.promise;
  await expect(h.store({ bytes: large(3) })).rejects.toMatchObject(refusal("this agent", 3));
  held.resolve();
  await slow;
  await expect(h.store({ bytes: large(1) })).rejects.toMatchObject(refusal("this agent", 3));
});

test("a file that the disk refuses, or whose conversation is deleted, releases its space at once", async () => {
  const h = await filesHarness();
  allow(h, 3, 3);
  const { directory } = h.services.files;
  if (!directory) throw new Error("There is no directory");
  const put = vi.spyOn(directory, "put").mockRejectedValueOnce(new StorageRefusal("conflict", "The disk is full"));
  await expect(h.store({ bytes: large(2) })).rejects.toThrow("The disk is full");
  expect(await h.rows()).toEqual([]);
  put.mockRestore();
  const gone = await h.conversation();
  const digest = crypto.subtle.digest.bind(crypto.subtle);
  vi.spyOn(crypto.subtle, "digest").mockImplementationOnce(async (...given) => {
    await h.db.delete(conversations).where(eq(conversations.id, gone.id));
    return digest(...given);
  });
  await expect(h.store({ bytes: large(2), conversation: gone })).rejects.toMatchObject({ status: 404 });
  await h.store({ bytes: large(3) });
});

test("a file the disk refuses takes no space of one that was deleted meanwhile", async () => {
  const h = await filesHarness();
  allow(h, 3, 3);
  await h.store({ bytes: large(1) });
  const { directory } = h.services.files;
  if (!directory) throw new Error("There is no directory");
  const put = vi.spyOn(directory, "put").mockImplementationOnce(async () => {
    await h.db.update(files).set({ status: "deleting" }).where(eq(files.status, "pending"));
    await h.clock.jump(60_000);
    await expect(h.store({ bytes: large(3) })).rejects.toMatchObject(refusal("one person or group", 3));
    throw new StorageRefusal("conflict", "The disk is full");
  });
  await expect(h.store({ bytes: large(2) })).rejects.toThrow("The disk is full");
  put.mockRestore();
  expect(await h.rows()).toMatchObject([{ status: "stored" }]);
  await expect(h.store({ bytes: large(3) })).rejects.toMatchObject(refusal("one person or group", 3));
});

test("files in a bucket do not count", async () => {
  const h = await filesHarness({ store: "s3" });
  allow(h, 1, 1);
  await h.store({ bytes: large(2) });
  await h.store({ bytes: large(2) });
  expect(h.s3.objects.size).toBe(2);
});
