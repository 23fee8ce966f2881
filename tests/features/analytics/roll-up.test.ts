import { eq, sql } from "drizzle-orm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { newId, randomToken } from "../../../src/core/ids.ts";
import {
  agents,
  latencyDaily,
  toolUsageDaily,
  turns,
  usageDaily,
  usageRollups,
  userUsageDaily,
} from "../../../src/db/schema.ts";
import { createRollUp } from "../../../src/features/analytics/roll-up.ts";
import { type Harness, harness } from "../../harness.ts";
import { endTurn, plantTurns, rollUp } from "./plant.ts";

const tables = [usageDaily, latencyDaily, toolUsageDaily, userUsageDaily];

async function overview(h: Harness, headers: Record<string, string>, query = "?from=2026-01-01&to=2026-02-01") {
  const response = await h.request(`/api/analytics${query}`, { headers });
  expect(response.status).toBe(200);
  return (await response.json()).overview;
}

const until = async ({ services: { database } }: Harness) =>
  (await database.db.select().from(usageRollups))[0]?.until.toISOString();

test("a turn that runs holds the mark, and counts once however late it ends", async () => {
  const h = await harness();
  const { headers } = await h.agent();
  const [id, at] = [newId(), "2026-01-10T10:00:00.123Z"];
  const running = { id, status: "running", promptTokens: 0, completionTokens: 0, messageCount: 0 } as const;
  await plantTurns(h, [
    { at: "2026-01-10T09:00:00Z" },
    { at, fields: running },
    { at: "2026-01-10T12:00:00Z", tools: [{ name: "currentTime" }] },
  ]);
  await rollUp(h);
  expect(await until(h)).toBe(at);
  expect(await overview(h, headers)).toMatchObject({ turns: 3, totalTokens: 220, messages: 4 });
  await endTurn(h, id);
  expect(await overview(h, headers)).toMatchObject({ turns: 3, totalTokens: 230, messages: 6 });
  await rollUp(h);
  expect(Date.parse((await until(h)) ?? "")).toBeGreaterThan(Date.parse("2026-01-10T12:00:00Z"));
  expect(await overview(h, headers)).toMatchObject({ turns: 3, totalTokens: 230, messages: 6 });
  // It is read from the sums from now on.
  await h.services.database.db.delete(turns);
  expect(await overview(h, headers)).toMatchObject({ turns: 3, totalTokens: 230, messages: 6 });
});

test("rows created in the last minute wait, since their statement may still be under way", async () => {
  const h = await harness();
  await h.agent();
  await plantTurns(h, [{ at: new Date(Date.now() - 5_000) }]);
  await rollUp(h);
  expect(await h.services.database.db.$count(usageDaily)).toBe(0);
});

test("a call by a name that fits no index stops nothing", async () => {
  const h = await harness();
  const { headers } = await h.agent();
  const name = randomToken(6_000);
  await plantTurns(h, [{ at: "2026-01-10T10:00:00Z", tools: [{ name }] }, { at: "2026-01-11T10:00:00Z" }]);
  const tools = async () =>
    (await (await h.request("/api/analytics?from=2026-01-01&to=2026-02-01", { headers })).json()).toolUsage;
  const shown = [{ tool: name.slice(0, 256), count: 1, errors: 0, p95: expect.any(Number) }];
  expect(await tools()).toEqual(shown);
  await rollUp(h);
  expect(Date.parse((await until(h)) ?? "")).toBeGreaterThan(Date.parse("2026-01-11T10:00:00Z"));
  expect(await tools()).toEqual(shown);
});

test("when the clock is set back, later rows count too, and all others stay counted once", async () => {
  const h = await harness();
  const { headers } = await h.agent();
  const { db } = h.services.database;
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  const query = `?from=${minutesAgo(30 * 24 * 60).toISOString()}&to=${minutesAgo(-3 * 24 * 60).toISOString()}`;
  const tools = [{ name: "currentTime" }];
  await plantTurns(h, [
    { at: minutesAgo(10 * 24 * 60), tools, fields: { costMicros: 30 } },
    { at: minutesAgo(30), tools, fields: { costMicros: 4 } },
  ]);
  await rollUp(h);
  // As if the clock had been a day and more behind until now.
  await plantTurns(h, [{ at: minutesAgo(-25 * 60), tools }]);
  const [rolled] = await db.select().from(usageDaily);
  if (!rolled) throw new Error("Nothing was rolled up");
  const tomorrow = minutesAgo(-25 * 60)
    .toISOString()
    .slice(0, 10);
  await db.insert(usageDaily).values({ ...rolled, day: tomorrow, turns: 1, messages: 2 });
  await db.update(usageRollups).set({ until: sql`now() + interval '26 hours'` });
  await plantTurns(h, [{ at: minutesAgo(5), tools }]);
  await rollUp(h);
  expect(Date.parse((await until(h)) ?? "")).toBeLessThan(Date.now());
  const answer = await (await h.request(`/api/analytics${query}`, { headers })).json();
  expect(answer.overview).toMatchObject({ turns: 4, totalTokens: 440, messages: 8, costMicros: 34, unpricedTurns: 2 });
  expect(answer.toolUsage).toMatchObject([{ tool: "currentTime", count: 4 }]);
});

test("the turns of an outage are caught up in stretches, without a statement for idle time", async () => {
  const h = await harness();
  const { headers } = await h.agent();
  await plantTurns(
    h,
    Array.from({ length: 30 }, (_, day) => ({ at: new Date(Date.UTC(2020, 0, 1 + 30 * day)) })),
  );
  const statements: string[] = [];
  const { database } = h.services;
  const query: typeof database.query = (text, parameters) => {
    statements.push(text);
    return database.query(text, parameters);
  };
  const tick = createRollUp({ ...h.services, database: { ...database, query } });
  await tick();
  expect(statements).toHaveLength(24);
  await tick();
  // The first one set the mark, and the last one found no turns.
  expect(statements).toHaveLength(32);
  await tick();
  expect(statements).toHaveLength(32);
  expect(await overview(h, headers, "?from=2020-01-01&to=2021-01-01")).toMatchObject({ turns: 13 });
  await h.clock.jump(10 * 60_000);
  await tick();
  expect(statements).toHaveLength(33);
});

test("several processes at once, in any order with turns that come, end and go, count each turn once", async () => {
  const h = await harness();
  const { headers } = await h.agent();
  await h.agent();
  const { db } = h.services.database;
  const slugs = (await db.select({ slug: agents.slug }).from(agents)).map(({ slug }) => slug);
  const begin = Date.UTC(2026, 0, 5);
  const step = fc.oneof(
    fc.record({
      kind: fc.constantFrom("turn", "open"),
      minutes: fc.integer({ min: 1, max: 1000 }),
      agent: fc.constantFrom(...slugs),
      subject: fc.constantFrom("web:ada" as const, "web:bob" as const),
    }),
    fc.record({ kind: fc.constant("end") }),
    fc.record({ kind: fc.constant("tick"), processes: fc.integer({ min: 1, max: 3 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
      for (const table of [turns, ...tables, usageRollups]) await db.delete(table);
      const open: string[] = [];
      const expected = { turns: 0, messages: 0, promptTokens: 0 };
      let now = 0;
      for (const one of steps) {
        if ("minutes" in one) {
          // Turns are added in the order of time: the mark is never ahead of a later one.
          now += one.minutes * 60_000;
          const id = newId();
          const isOpen = one.kind === "open";
          const fields = isOpen
            ? { status: "running" as const, promptTokens: 0, completionTokens: 0, messageCount: 0 }
            : {};
          const { agent, subject } = one;
          await plantTurns(h, [{ at: new Date(begin + now), agent, subject, fields: { id, ...fields } }]);
          if (isOpen) open.push(id);
          expected.turns += 1;
          expected.messages += isOpen ? 0 : 2;
          expected.promptTokens += isOpen ? 0 : 100;
          // The database's clock is far ahead: without a running turn, the mark would be too.
          await db
            .update(usageRollups)
            .set({ until: sql`least(${usageRollups.until}, ${new Date(begin + now).toISOString()}::timestamptz)` });
        } else if ("processes" in one) {
          await Promise.all(Array.from({ length: one.processes }, () => createRollUp(h.services)()));
        } else {
          const ended = open.shift();
          if (!ended) continue;
          await endTurn(h, ended);
          expected.messages += 2;
          expected.promptTokens += 7;
        }
        if (one.kind === "tick") expect(await overview(h, headers)).toMatchObject(expected);
      }
      expect(await overview(h, headers)).toMatchObject(expected);
    }),
    { numRuns: 10 },
  );
});

test("the sums of an agent go with it, and the others' stay", async () => {
  const h = await harness();
  const [first, second] = [await h.agent(), await h.agent()];
  const tools = [{ name: "currentTime" }];
  await plantTurns(
    h,
    [first, second].map(({ slug }) => ({ at: "2026-01-05T10:00:00Z", agent: slug, tools })),
  );
  await rollUp(h);
  const { db } = h.services.database;
  const counts = () => Promise.all(tables.map((table) => db.$count(table)));
  expect(await counts()).toEqual([2, 4, 2, 2]);
  await h.request(`/api/instances/${first.slug}`, { method: "DELETE", headers: first.headers });
  expect(await counts()).toEqual([1, 2, 1, 1]);
  expect(await overview(h, second.headers)).toMatchObject({ turns: 1 });
  const [kept] = await db.select().from(agents).where(eq(agents.slug, second.slug));
  expect((await db.select().from(usageDaily))[0]?.agentId).toBe(kept?.id);
});
