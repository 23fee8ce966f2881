import { expect, test } from "vitest";
import { harness } from "../../harness.ts";
import { auditOf, refusal } from "../organizations/callers.ts";
import { createUser, openSession } from "./people.ts";

test("the user's own name is changed everywhere, and both names are in the log", async () => {
  const h = await harness();
  const { id, email } = await createUser(h, "ada@example.com");
  const headers = await openSession(h, id);
  const rename = (json: unknown) => h.request("/api/me", { method: "PATCH", headers, json });
  for (const name of [" Ada Lovelace ", "Ada Lovelace"]) {
    const response = await rename({ name });
    expect([response.status, (await response.json()).user.name]).toEqual([200, "Ada Lovelace"]);
  }
  expect((await rename({})).status).toBe(200);
  const { members } = await (await h.request("/api/organizations/acme/members", { headers })).json();
  expect(members[0].name).toBe("Ada Lovelace");
  const changes = { name: { from: "Ada", to: "Ada Lovelace" } };
  expect(await auditOf(h)).toMatchObject([{ action: "user.update", target: email, summary: { changes } }]);
  expect((await refusal(rename({ name: " " })))[0]).toBe(400);
});

test("a name changes 10 times an hour at most, which keeps the logs from being flooded", async () => {
  const h = await harness();
  const { id } = await createUser(h, "ada@example.com", "viewer");
  const headers = await openSession(h, id);
  const rename = (json: unknown) => h.request("/api/me", { method: "PATCH", headers, json });
  for (let call = 0; call < 10; call += 1) expect((await rename({ name: `Ada ${call}` })).status).toBe(200);
  expect(await refusal(rename({ name: "Ada 10" }))).toEqual([
    429,
    "Too many changes of your name: try again in 3600 seconds",
  ]);
  expect((await rename({})).status).toBe(200);
  expect(await auditOf(h)).toHaveLength(10);
  await h.clock.advance(60 * 60 * 1000);
  expect((await rename({ name: "Ada 10" })).status).toBe(200);
});
