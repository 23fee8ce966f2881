import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Ctx } from "../../../src/context/ctx.ts";
import type { Database } from "../../../src/db/client.ts";
import { listConversations } from "../../../src/features/conversations/list.ts";
import type { ConversationQuery } from "../../../src/features/conversations/schema.ts";
import { searchBounds } from "../../../src/features/conversations/search.ts";
import { countReads } from "../../plan.ts";
import { conversationHarness, plant } from "./conversations.ts";

const few = { rare: 20, titles: 1_000, conversations: 60, messages: 50 };
const many = 300;

/**
 * 300 conversations of one message with two frequent words, a minute apart, of which the oldest has a rare word too; and
 * 5,000 messages of others with the frequent words.
 */
async function crowded({ analyzed = true } = {}) {
  const h = await conversationHarness();
  const contents = Array.from({ length: many }, (_, n) => `blue ferry ${n === 0 ? "zeppelin" : `n${n}`}`);
  await plant(h, contents, { title: "A trip" });
  await h.db.execute(sql`
    update conversations set updated_at = timestamptz '2026-11-01Z' + placed.nth * interval '1 minute'
    from (select conversation_id, coalesce(substring(content from 'n([0-9]+)$')::int, 0) as nth from messages) placed
    where placed.conversation_id = id`);
  await h.db.execute(sql`
    insert into messages (id, conversation_id, seq, role, content, search)
    select gen_random_uuid(), gen_random_uuid(), 1, 'user', 'blue ferry', array_to_tsvector('{blue,ferry}')
    from generate_series(1, 5000)`);
  if (analyzed) await h.db.execute(sql`analyze messages`);
  const [agent] = await h.db.execute<{ id: string }>(sql`select organization_id as id from agents limit 1`);
  const membership = { organizationId: agent?.id ?? "", workspaceIds: null };
  const ctx = { ...h.services, db: h.db, membership } as unknown as Ctx;
  const { database } = h.services;
  return {
    ...h,
    find: (query: ConversationQuery, bounds = few) => listConversations(ctx, query, bounds),
    /** The rows of a table that the search for the conversations of a page reads. */
    async readsOf(table: string, query: ConversationQuery, bounds = few) {
      let rows = 0;
      const counting: Database = {
        ...database,
        transaction: (fn) =>
          database.transaction(async (tx) => {
            const count = await countReads(tx, [table]);
            const result = await fn(tx);
            rows += await count();
            return result;
          }),
      };
      await listConversations({ ...ctx, database: counting }, query, bounds);
      return rows;
    },
  };
}

test.each([
  { known: "by statistics", analyzed: true, most: 50 },
  { known: "only once so many were read", analyzed: false, most: 50 + few.rare + 1 },
])("frequent words, known $known, are looked for in the newest conversations", async ({ analyzed, most }) => {
  const h = await crowded({ analyzed });
  const page = await h.find({ search: "blue ferr", limit: 5, offset: 2 });
  expect(page).toMatchObject({ total: 50, limit: 5, offset: 2, searchedFrom: "2026-11-01T04:10:00.000Z" });
  expect(page.conversations.map(({ updatedAt }) => updatedAt.slice(14, 16))).toEqual(["57", "56", "55", "54", "53"]);
  expect(await h.readsOf("messages", { search: "blue ferr" })).toBeLessThanOrEqual(most);
});

test("a search goes on before `searchedFrom`, and finds each conversation once", async () => {
  const h = await crowded();
  const found: string[] = [];
  let to: Date | undefined;
  do {
    const page = await h.find({ search: "ferry", limit: 100, ...(to && { to }) });
    expect(page.conversations).toHaveLength(page.total);
    found.push(...page.conversations.map(({ id }) => id));
    to = page.searchedFrom === null ? undefined : new Date(page.searchedFrom);
  } while (to);
  expect(new Set(found).size).toBe(many);
  expect(found).toHaveLength(many);
});

test("conversations are counted too, so that short ones are no more work", async () => {
  const h = await crowded();
  const bounds = { ...few, conversations: 9, messages: 1_000 };
  expect(await h.find({ search: "ferry" }, bounds)).toMatchObject({
    total: 9,
    searchedFrom: "2026-11-01T04:51:00.000Z",
  });
});

test.each(["zeppelin", "ferry zeppelin", "zeppelin f"])("%j is found at any age, by its rare word", async (search) => {
  const h = await crowded();
  const page = await h.find({ search });
  expect(page).toMatchObject({ total: 1, searchedFrom: null });
  expect(page.conversations).toMatchObject([{ updatedAt: "2026-11-01T00:00:00.000Z", snippet: "blue ferry zeppelin" }]);
  expect(await h.readsOf("messages", { search })).toBe(1);
});

test("titles are looked for in the newest conversations", async () => {
  const h = await crowded();
  const bounds = { ...few, titles: 100 };
  for (const search of ["TRIP", "zeppelin tri", "a trip"]) {
    const { searchedFrom } = await h.find({ search }, bounds);
    expect([search, searchedFrom]).toEqual([search, "2026-11-01T03:20:00.000Z"]);
  }
  expect((await h.find({ search: "trip" }, bounds)).total).toBe(100);
  expect((await h.find({ search: "zeppelin" }, bounds)).total).toBe(1);
  for (const search of ["trip", "zeppelin", "%"]) {
    expect(await h.readsOf("conversations", { search }, { ...few, titles: 20 })).toBeLessThanOrEqual(45);
  }
  expect((await h.find({ search: "trip", to: new Date("2026-11-01T03:20:00Z") }, bounds)).total).toBe(100);
});

test("an installation of usual size is searched as a whole", async () => {
  const h = await crowded();
  for (const search of ["ferry", "zeppelin", "trip", "%"]) {
    expect([search, (await h.find({ search }, searchBounds)).searchedFrom]).toEqual([search, null]);
  }
  expect((await h.list({ search: "blue ferry" })).total).toBe(many);
});
