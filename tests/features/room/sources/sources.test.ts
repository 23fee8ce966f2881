import { describe, expect, test } from "vitest";
import type { RoleKey } from "../../../../src/core/credentials/permissions.ts";
import { eventDefinitions, eventSources } from "../../../../src/db/schema.ts";
import { findSourceByToken } from "../../../../src/features/room/sources/find.ts";
import { withSources } from "./sources.ts";

const unknown = "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d";

test("a source gets an address of its own, and is shown with what was filled in", async () => {
  const { create, list } = await withSources();
  expect(await list()).toEqual([]);
  const first = await create();
  const second = await create({ sourceType: "github", config: { a: [1, null] }, enabled: false, authKey: "k" });
  expect(first.webhookToken).toMatch(/^[\w-]{43}$/);
  expect(first.webhookToken).not.toBe(second.webhookToken);
  for (const { webhookToken, webhookUrl } of [first, second]) {
    expect(webhookUrl).toBe(`http://localhost:4000/webhooks/${webhookToken}`);
  }
  const dates = { createdAt: expect.any(String), updatedAt: expect.any(String) };
  const filled = { config: {}, enabled: true, authKeyConfigured: false, definitions: [], ...dates };
  expect(await list()).toEqual([
    { ...filled, ...first, name: "Issues", sourceType: "webhook" },
    {
      ...filled,
      ...second,
      name: "Issues",
      sourceType: "github",
      config: { a: [1, null] },
      enabled: false,
      authKeyConfigured: true,
    },
  ]);
  expect(await list("two")).toEqual([]);
});

test("sealed values are in no column, answer or audit entry", async () => {
  const { create, good, list, db, entries, logs } = await withSources();
  const { id, webhookToken } = await create({ authKey: "first-shared-key", config: { note: "of-mine" } });
  await good(200, "PUT", `one/event-sources/${id}`, { authKey: "second-shared-key", config: { note: "of-yours" } });
  const [row] = await db.select().from(eventSources);
  const stored = JSON.stringify({ ...row, text: new TextDecoder().decode(row?.credentials) });
  const told = [stored, JSON.stringify(await entries()), logs.join("\n")];
  for (const secret of [webhookToken, "first-shared-key", "second-shared-key"]) {
    expect(told.filter((text) => text.includes(secret))).toEqual([]);
  }
  expect(told[1]).not.toContain("of-");
  expect(JSON.stringify(await list())).not.toContain("shared-key");
});

describe("changing", () => {
  test("keeps what is not given, and the address", async () => {
    const { create, good, list, services } = await withSources();
    const { id, webhookToken } = await create({ authKey: "first" });
    const before = (await list())[0];
    const put = (json: object) => good<object>(200, "PUT", `one/event-sources/${id}`, json);
    const keyOf = async () => (await findSourceByToken(services, webhookToken))?.authKey;
    expect(await put({})).toEqual({ ...before, updatedAt: expect.any(String) });
    const changes = { name: "Orders", sourceType: "shop", config: { b: 2 }, enabled: false };
    expect(await put(changes)).toEqual({ ...before, ...changes, updatedAt: expect.any(String) });
    expect(await keyOf()).toBe("first");
    expect(await put({ authKey: "second" })).toMatchObject({ ...changes, authKeyConfigured: true });
    expect(await keyOf()).toBe("second");
    expect(await put({ authKey: null })).toMatchObject({ webhookToken, authKeyConfigured: false });
    expect(await keyOf()).toBe(null);
    expect((await list())[0]).toMatchObject(changes);
  });

  test("is in the audit log with what changed, and turns know each new credential at once", async () => {
    const { create, good, entries, revision } = await withSources();
    const rises = async (work: () => Promise<unknown>) => {
      const before = (await revision()) ?? 0;
      await work();
      return ((await revision()) ?? 0) > before;
    };
    let id = "";
    expect(await rises(async () => ({ id } = await create({ authKey: "first" })))).toBe(true);
    const path = `one/event-sources/${id}`;
    const put = () => good(200, "PUT", path, { name: "Orders", authKey: "second", config: { a: 1 } });
    expect(await rises(put)).toBe(true);
    await put();
    expect(await rises(() => good(201, "POST", `${path}/rotate-token`))).toBe(true);
    // A turn hides deleted secrets a little longer.
    expect(await rises(() => good(200, "DELETE", path))).toBe(false);
    const made = { sourceId: id, name: "Issues", sourceType: "webhook", authKeyConfigured: true };
    const changes = { name: { from: "Issues", to: "Orders" } };
    expect((await entries()).map(({ action, target, summary }) => [action, target, summary])).toEqual([
      ["agent.event-source.create", "one", made],
      ["agent.event-source.update", "one", { sourceId: id, replaced: ["config", "authKey"], changes }],
      ["agent.event-source.rotate-token", "one", { sourceId: id }],
      ["agent.event-source.delete", "one", { sourceId: id }],
    ]);
  });

  test("is refused with the reason", async () => {
    const { call } = await withSources();
    let deep: unknown = 1;
    for (let level = 0; level < 21; level += 1) deep = [deep];
    const source = { name: "Issues", sourceType: "webhook" };
    const wrong: [object, RegExp][] = [
      [{ sourceType: "webhook" }, /^name: /],
      [{ ...source, name: " " }, /^name: must not be empty/],
      [{ name: "Issues" }, /^sourceType: /],
      [{ ...source, sourceType: " " }, /^sourceType: must not be empty/],
      [{ ...source, authKey: "" }, /^authKey: must be printable ASCII without spaces, and not empty/],
      [{ ...source, authKey: "two words" }, /^authKey: must be printable ASCII/],
      [{ ...source, authKey: "schlüssel" }, /^authKey: must be printable ASCII/],
      [{ ...source, authKey: "k".repeat(257) }, /^authKey: must be at most 256 characters/],
      [{ ...source, config: [] }, /^config: /],
      [{ ...source, config: { deep } }, /^config: must not be nested deeper than 20 levels/],
      [{ ...source, config: { long: "x".repeat(16 * 1024) } }, /^config: must be at most 16384 bytes as JSON/],
      [{ ...source, config: { "a\u0000": 1 } }, /^config: must not contain NUL/],
      [{ ...source, enabled: "yes" }, /^enabled: /],
    ];
    for (const [json, message] of wrong) {
      const { status, body } = await call("POST", "one/event-sources", json);
      expect([json, status]).toEqual([json, 400]);
      expect(body.message).toMatch(message);
    }
  });
});

test("another token: the former address is unknown at once, and the key stays", async () => {
  const { create, good, list, services } = await withSources();
  const { id, webhookToken } = await create({ authKey: "shared" });
  const rotated = await good<{ webhookToken: string }>(201, "POST", `one/event-sources/${id}/rotate-token`);
  expect(rotated).toEqual({
    id,
    webhookToken: expect.stringMatching(/^[\w-]{43}$/),
    webhookUrl: `http://localhost:4000/webhooks/${rotated.webhookToken}`,
  });
  expect(await findSourceByToken(services, webhookToken)).toBe(null);
  expect(await findSourceByToken(services, rotated.webhookToken)).toMatchObject({ id, authKey: "shared" });
  expect(await list()).toMatchObject([{ id, webhookToken: rotated.webhookToken, authKeyConfigured: true }]);
});

test("callers who may not change the Room read sources without their addresses", async () => {
  const { create, call, list, as } = await withSources();
  const { id, webhookToken } = await create();
  const rights: [RoleKey, boolean][] = [
    ["owner", true],
    ["admin", true],
    ["member", true],
    ["viewer", false],
  ];
  for (const [role, writes] of rights) {
    const headers = await as(role);
    const [source] = await list("one", headers);
    expect([role, source?.webhookToken, "webhookUrl" in (source ?? {})]).toEqual([
      role,
      writes ? webhookToken : undefined,
      writes,
    ]);
    const { status } = await call("PUT", `one/event-sources/${id}`, { name: role }, headers);
    expect([role, status]).toEqual([role, writes ? 200 : 403]);
  }
});

test("a source that is not there, or another agent's, is a 404, also with the other agent's path", async () => {
  const { create, call, good, list } = await withSources();
  const { id } = await create();
  for (const path of [`two/event-sources/${id}`, `one/event-sources/${unknown}`, "one/event-sources/nonsense"]) {
    for (const [method, rest, json] of [
      ["PUT", "", {}],
      ["DELETE", ""],
      ["POST", "/rotate-token"],
      ["GET", "/definitions"],
      ["POST", "/definitions", { name: "Bugs", matchingPrompt: "A bug", action: "backlog" }],
    ] as const) {
      const { status, body } = await call(method, `${path}${rest}`, json);
      expect([path, method, rest, status, body.message]).toEqual([path, method, rest, 404, "Event source not found"]);
    }
  }
  expect(await list()).toHaveLength(1);
  expect(await good(200, "DELETE", `one/event-sources/${id}`)).toEqual({ deleted: true });
  expect((await call("DELETE", `one/event-sources/${id}`)).status).toBe(404);
});

test("an agent has at most 50 sources, also when they are made at the same time", async () => {
  const { create, call, list, db } = await withSources();
  for (let made = 0; made < 47; made += 1) await create();
  const source = { name: "Issues", sourceType: "webhook" };
  const answers = await Promise.all(Array.from({ length: 6 }, () => call("POST", "one/event-sources", source)));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409]);
  const message = "An agent has at most 50 event sources: delete one first";
  expect(answers.find(({ status }) => status === 409)?.body.message).toBe(message);
  expect(await list()).toHaveLength(50);
  await create({}, "two");
  expect(await db.$count(eventSources)).toBe(51);
});

test("sources and definitions go with their agent, and know who wrote them", async () => {
  const { create, define, call, db } = await withSources();
  await define((await create()).id);
  const other = await create({}, "two");
  await define(other.id, {}, "two");
  const rows = [...(await db.select().from(eventSources)), ...(await db.select().from(eventDefinitions))];
  expect(rows.every(({ createdBy, updatedBy }) => createdBy !== null && createdBy === updatedBy)).toBe(true);
  expect((await call("DELETE", "one")).status).toBe(200);
  expect((await db.select().from(eventSources)).map(({ id }) => id)).toEqual([other.id]);
  expect((await db.select().from(eventDefinitions)).map(({ sourceId }) => sourceId)).toEqual([other.id]);
});
