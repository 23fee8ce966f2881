import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { searchColumn, searchWords } from "../../../src/features/conversations/index.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { conversationHarness, plant } from "./conversations.ts";

describe("the words of a message", () => {
  test.each([
    ["200 KB for whose words the parser of PostgreSQL takes minutes", "_a".repeat(100_000)],
    ["rows of combining marks, which are sorted", `a${"\u0301\u0323".repeat(50_000)}`],
    ["characters that stand for whole sentences", "\uFDFA".repeat(80_000)],
    ["words of a script without spaces", "東京都".repeat(28_000)],
  ])("are found at once in %s, of both sides", async (_, hostile) => {
    const h = await conversationHarness(scriptedModel(() => reply(`zeppelin ${hostile}`)));
    await h.say(`ferry ${hostile}`);
    expect((await h.list({ search: "ferry" })).total).toBe(1);
    expect((await h.list({ search: "zepp" })).total).toBe(1);
  });

  test("are never found by the database", async () => {
    const { db } = await conversationHarness();
    const found = await db.execute(sql`
      select pg_get_expr(adbin, adrelid) as made from pg_attrdef
      union all select indexdef from pg_indexes where schemaname = 'public'`);
    expect(found.length).toBeGreaterThan(100);
    expect(found.filter(({ made }) => /\bto_ts|similarity|regexp/.test(String(made)))).toEqual([]);
  });

  test("are added to the index in portions that no turn waits for", async () => {
    const { db } = await conversationHarness();
    const [index] = await db.execute(sql`select reloptions as options from pg_class where relname = 'messages_search'`);
    expect(index).toEqual({ options: ["gin_pending_list_limit=128"] });
  });

  test("fit into the column, however many and long they are", async () => {
    const { db } = await conversationHarness();
    const words = (length: number, tail = "") =>
      Array.from({ length: 50_000 }, (_, n) => `${String(n)}${"ж".repeat(length)}${tail}`).join(" ");
    for (const content of [words(0), words(60), words(60, "+"), "東京".repeat(100_000), words(100)]) {
      const indexed = searchWords(content);
      const last = indexed.split(" ").at(-1) ?? "";
      expect(new TextEncoder().encode(indexed).length).toBeLessThan(1_000_000);
      const [row] = await db.execute(sql`select ${searchColumn(indexed)} @@ ${`'${last}'`}::tsquery as found`);
      expect(row).toEqual({ found: true });
    }
  });

  test("are found with and without the signs behind them", () => {
    expect(searchWords("C++ and C#, or 1+2")).toBe("1 1+ 2 and c c# c++ or");
    expect(searchWords("!?")).toBe("");
  });
});

describe("messages that a server of an earlier release stored", () => {
  test("during an upgrade are indexed by upkeep", async () => {
    const h = await conversationHarness();
    await plant(
      h,
      Array.from({ length: 50 }, (_, n) => `ferry ${n}`),
      { indexed: false },
    );
    expect((await h.list({ search: "ferry" })).total).toBe(0);
    await h.engine.tick();
    expect((await h.list({ search: "ferry" })).total).toBe(50);
    await plant(h, ["ferry at last"], { indexed: false });
    h.clock.advance(10 * 60_000);
    await h.engine.tick();
    expect((await h.list({ search: "last" })).total).toBe(1);
  });

  test("before it are found by the words that PostgreSQL had found", async () => {
    const h = await conversationHarness();
    await plant(h, [
      "Write to ada@example.com on 2027-01-31, see https://example.org/docs and run foo-bar, don't wait",
    ]);
    await h.db.execute(sql`update messages set search = to_tsvector('simple', content)`);
    const searches = [
      "ada@example.com",
      "2027-01-31",
      "https://example.org/docs",
      "example.org",
      "foo-bar",
      "bar",
      "don't",
    ];
    for (const search of [...searches, "WRITE wai"]) {
      expect([search, (await h.list({ search })).total]).toEqual([search, 1]);
    }
  });
});
