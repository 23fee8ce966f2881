import { describe, expect, test } from "vitest";
import { eventDefinitions } from "../../../../src/db/schema.ts";
import { withSources } from "./sources.ts";

const unknown = "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d";
const dates = { createdAt: expect.any(String), updatedAt: expect.any(String) };

async function withSource() {
  const h = await withSources();
  const { id } = await h.create();
  const path = `one/event-sources/${id}/definitions`;
  return { ...h, id, path, make: (json: object = {}) => h.define(id, { ...json }) };
}

test("a definition is filled in, and is in its own list and in its source's", async () => {
  const { make, good, list, path } = await withSource();
  const least = await make();
  const filled = {
    interpretationPrompt: "",
    contextPrompt: "",
    priority: 0,
    conditions: [],
    outboundChannel: null,
    outboundTarget: null,
    enabled: true,
    ...dates,
  };
  expect(least).toEqual({
    ...filled,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "Bugs",
    matchingPrompt: "A bug",
    action: "backlog",
  });
  const all = {
    name: "Orders",
    matchingPrompt: "An order",
    action: "conversation",
    priority: 7,
    enabled: false,
    interpretationPrompt: "{{payload}}",
    contextPrompt: "Look at {{payload.order.id}}.",
    conditions: [
      { path: "order.kind", equals: "new" },
      { path: "order.test", equals: null },
    ],
    outboundChannel: "telegram",
    outboundTarget: "4711",
  };
  const whole = await make(all);
  expect(whole).toEqual({ id: expect.any(String), ...all, ...dates });
  expect(await good(200, "GET", path)).toEqual([least, whole]);
  expect(await list()).toMatchObject([{ definitions: [least, whole] }]);
});

test("the order is that of the priorities, and of their making where those are equal", async () => {
  const { make, good, path } = await withSource();
  const a = await make();
  const last = await make({ priority: 9_999 });
  const behind = await make();
  const b = await make({ priority: 0 });
  expect(behind.priority).toBe(9_999);
  const ids = (await good<{ id: string }[]>(200, "GET", path)).map(({ id }) => id);
  expect(ids).toEqual([a, b, last, behind].map(({ id }) => id));
  expect((await make({ priority: 3 })).priority).toBe(3);
});

test("description is another name of matchingPrompt", async () => {
  const { define, good, call, path, id } = await withSource();
  const by = async (json: object) => (await define(id, { matchingPrompt: undefined, ...json })).matchingPrompt;
  expect(await by({ description: "An order" })).toBe("An order");
  expect(await by({ description: "An order", matchingPrompt: "An order" })).toBe("An order");
  const [first] = await good<{ id: string }[]>(200, "GET", path);
  const one = `${path}/${first?.id}`;
  expect(await good(200, "PUT", one, { description: "A refund" })).toMatchObject({ matchingPrompt: "A refund" });
  const both = { name: "x", action: "backlog", description: "a", matchingPrompt: "b" };
  for (const [method, url] of [
    ["POST", path],
    ["PUT", one],
  ] as const) {
    const { status, body } = await call(method, url, both);
    expect([method, status]).toEqual([method, 400]);
    expect(body.message).toBe("description: is another name of matchingPrompt: give one of them");
  }
});

describe("changing", () => {
  test("keeps missing fields, and is in the audit log", async () => {
    const { make, good, path, id: sourceId, entries, revision } = await withSource();
    const before = await revision();
    const made = await make({ conditions: [{ path: "a", equals: 1 }], outboundChannel: "slack", outboundTarget: "C1" });
    const one = `${path}/${made.id}`;
    const put = (json: object) => good(200, "PUT", one, json);
    expect(await put({})).toEqual({ ...made, ...dates });
    expect(await put({ outboundTarget: "C2", conditions: [] })).toEqual({
      ...made,
      outboundTarget: "C2",
      conditions: [],
      ...dates,
    });
    expect(await put({ outboundChannel: null, outboundTarget: null, action: "conversation" })).toMatchObject({
      outboundChannel: null,
      outboundTarget: null,
      action: "conversation",
      matchingPrompt: "A bug",
    });
    expect(await good(200, "DELETE", one)).toEqual({ deleted: true });
    const own = { sourceId, definitionId: made.id };
    const told = (await entries()).filter(({ action }) => action.startsWith("agent.event-definition."));
    expect(told.map(({ action, summary }) => [action, summary])).toEqual([
      ["agent.event-definition.create", { ...own, name: "Bugs", action: "backlog" }],
      [
        "agent.event-definition.update",
        {
          ...own,
          changes: {
            outboundTarget: { from: "C1", to: "C2" },
            conditions: { from: [{ path: "a", equals: 1 }], to: [] },
          },
        },
      ],
      [
        "agent.event-definition.update",
        {
          ...own,
          changes: {
            action: { from: "backlog", to: "conversation" },
            outboundChannel: { from: "slack", to: null },
            outboundTarget: { from: "C2", to: null },
          },
        },
      ],
      ["agent.event-definition.delete", own],
    ]);
    expect(await revision()).toBe(before);
  });

  test("checks channel and target together, even when only one is given", async () => {
    const { make, call, path } = await withSource();
    const one = `${path}/${(await make()).id}`;
    const status = async (json: object) => (await call("PUT", one, json)).status;
    expect(await status({ outboundChannel: "telegram" })).toBe(400);
    expect(await status({ outboundTarget: "4711" })).toBe(400);
    expect(await status({ outboundChannel: "telegram", outboundTarget: "4711" })).toBe(200);
    expect(await status({ outboundChannel: null })).toBe(400);
    expect(await status({ outboundTarget: "4712" })).toBe(200);
    expect(await status({ outboundChannel: null, outboundTarget: null })).toBe(200);
  });

  test("is refused with the reason", async () => {
    const { call, path } = await withSource();
    const definition = { name: "Bugs", matchingPrompt: "A bug", action: "backlog" };
    const many = Array.from({ length: 21 }, () => ({ path: "a", equals: 1 }));
    const wrong: [object, RegExp][] = [
      [{ ...definition, matchingPrompt: undefined }, /^matchingPrompt: is missing$/],
      [{ ...definition, matchingPrompt: " " }, /^matchingPrompt: must not be empty/],
      [{ ...definition, action: "drop" }, /^action: must be one of: conversation, backlog/],
      [{ ...definition, priority: -1 }, /^priority: must be at least 0/],
      [{ ...definition, contextPrompt: "{{payload. a}}" }, /^contextPrompt: has \{\{payload\. a\}\}: behind payload/],
      [{ ...definition, interpretationPrompt: "x".repeat(32_769) }, /^interpretationPrompt: must be at most 32768/],
      [{ ...definition, conditions: [{ path: "a..b", equals: 1 }] }, /^conditions.0.path: must be names and indexes/],
      [{ ...definition, conditions: [{ path: "a" }] }, /^conditions.0.equals: /],
      [{ ...definition, conditions: many }, /^conditions: /],
      [{ ...definition, outboundChannel: "web", outboundTarget: "x" }, /^outboundChannel: /],
      [{ ...definition, outboundChannel: "telegram" }, /^outboundTarget: Set outboundTarget too/],
      [{ ...definition, outboundTarget: "4711" }, /^outboundTarget: Set outboundChannel too/],
    ];
    for (const [json, message] of wrong) {
      const { status, body } = await call("POST", path, json);
      expect([json, status]).toEqual([json, 400]);
      expect(body.message).toMatch(message);
    }
  });
});

test("a definition that is not there, or another source's, is a 404", async () => {
  const { make, create, call, path, db } = await withSource();
  const made = await make();
  const other = `one/event-sources/${(await create()).id}/definitions`;
  for (const url of [`${other}/${made.id}`, `${path}/${unknown}`, `${path}/nonsense`]) {
    for (const [method, json] of [["PUT", { enabled: false }], ["DELETE"]] as const) {
      const { status, body } = await call(method, url, json);
      expect([url, method, status, body.message]).toEqual([url, method, 404, "Event definition not found"]);
    }
  }
  expect(await db.select().from(eventDefinitions)).toMatchObject([{ id: made.id, enabled: true }]);
});

test("a source has at most 50 definitions", async () => {
  const { make, call, define, create, path } = await withSource();
  for (let made = 0; made < 50; made += 1) await make();
  const { status, body } = await call("POST", path, { name: "Bugs", matchingPrompt: "A bug", action: "backlog" });
  expect([status, body.message]).toEqual([409, "An event source has at most 50 definitions: delete one first"]);
  await define((await create()).id);
});
