import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { SubjectKey } from "../../../src/core/channels/subjects.ts";
import { agents, conversations } from "../../../src/db/schema.ts";
import { memoryLines, recall, searchMemories } from "../../../src/features/memories/recall.ts";
import { saveMemories } from "../../../src/features/memories/store.ts";
import { spyOnStatements } from "../../statements.ts";
import { converse, type MemoryHarness, memoryHarness } from "./memories.ts";

describe("saving", () => {
  test("the same again, or nearly, updates; its wording and what was given with it are the newest", async () => {
    const h = await memoryHarness();
    const first = await h.save("The user lives in the old town of Bern", { category: "personal", importance: 8 });
    const same = await h.save("the user lives in the OLD town of Bern.");
    const near = await h.save("The user lives in the lovely old town of Bern", { importance: 3 });
    expect([first.event, same.event, near.event]).toEqual(["ADD", "UPDATE", "UPDATE"]);
    expect(near.memory).toMatchObject({
      id: first.memory.id,
      content: "The user lives in the lovely old town of Bern",
      category: "personal",
      importance: 3,
    });
    expect(await h.rows()).toHaveLength(1);
    // It is found by its new words, and no longer by the old ones.
    const ask = { agentId: h.agent.id, subject: "web:ada" as const, limit: 5 };
    expect(await searchMemories(h.database, { ...ask, query: "lovely" })).toHaveLength(1);
  });

  test("what is another fact is added", async () => {
    const h = await memoryHarness();
    const daughter = (name: string) => `The user's daughter ${name} was born in Zurich and likes football`;
    const facts = ["Likes tea", "Likes coffee", "Ann is older than Bob", "Bob is older than Ann"];
    for (const content of [...facts, daughter("Mia"), daughter("Lea")]) {
      expect((await h.save(content)).event).toBe("ADD");
    }
  });

  test("nearly the same as an old memory updates it, however many are newer", async () => {
    const h = await memoryHarness();
    const old = await h.save("The user lives in the old town of Bern");
    const { id, organizationId } = h.agent;
    await h.database.query(
      `insert into memories (id, agent_id, organization_id, subject, content, digest, search, updated_at)
       select gen_random_uuid(), $1, $2, 'ada', 'The user lives for number ' || n, sha256(n::text::bytea),
         array_to_tsvector(array['the', 'user', 'lives', 'for', 'number', n::text]), now() + interval '1 minute'
       from generate_series(1, 300) n`,
      [id, organizationId],
    );
    const near = await h.save("The user lives in the lovely old town of Bern");
    expect([near.event, near.memory.id]).toEqual(["UPDATE", old.memory.id]);
  });

  test("text that no database holds is made storable, and cut at 4000 characters", async () => {
    const h = await memoryHarness();
    const { memory } = await h.save(` a\u0000b\ud800 ${"x".repeat(5_000)} `);
    expect(memory.content).toBe(`ab\ufffd ${"x".repeat(3_996)}`);
  });

  test("of many end users by jobs takes two statements, whatever is new or known among it", async () => {
    const h = await memoryHarness();
    const known = await h.save("Likes tea", { subject: "web:user-3", importance: 8 });
    const facts = Array.from({ length: 12 }, (_, n) => ({
      agent: h.agent,
      subject: `web:user-${n}` as const,
      content: "likes TEA",
    }));
    const statements = spyOnStatements(h.database);
    const saved = await saveMemories(h.database, facts);
    expect(statements.texts()).toHaveLength(2);
    expect(saved.map(({ event }) => event)).toEqual(
      facts.map(({ subject }) => (subject === "web:user-3" ? "UPDATE" : "ADD")),
    );
    expect(saved.map(({ memory }) => memory.subject)).toEqual(facts.map(({ subject }) => subject));
    expect(saved[3]?.memory).toMatchObject({ id: known.memory.id, content: "likes TEA", importance: 8 });
    expect(await h.rows()).toHaveLength(12);
  });

  test("nearly the same twice of one end user by jobs at once is one memory, and of another is another", async () => {
    const h = await memoryHarness();
    const said = [
      ["web:ada", "The user lives in the old town of Bern"],
      ["web:bob", "The user lives in the old town of Bern"],
      ["web:ada", "The user lives in the lovely old town of Bern"],
    ] as const;
    const saved = await saveMemories(
      h.database,
      said.map(([subject, content]) => ({ agent: h.agent, subject, content })),
    );
    expect(saved.map(({ event }) => event)).toEqual(["ADD", "ADD", "UPDATE"]);
    expect(saved[2]?.memory).toMatchObject({ id: saved[0]?.memory.id, content: said[2][1] });
    expect(await h.rows()).toHaveLength(2);
  });

  test("the first of an end user takes one statement, and is compared with those added meanwhile", async () => {
    const h = await memoryHarness();
    await h.save("The user lives in Bern", { subject: "web:ada" });
    const statements = spyOnStatements(h.database);
    const first = (subject: SubjectKey, content: string) => ({ agent: h.agent, subject, content, first: true });
    const saved = await saveMemories(h.database, [first("web:bob", "Sings"), first("web:eve", "Sings")]);
    expect([saved.map(({ event }) => event), statements.texts().length]).toEqual([["ADD", "ADD"], 1]);
    const late = await saveMemories(h.database, [
      first("web:ada", "The user lives in lovely Bern"),
      first("web:zoe", "Paints"),
      first("web:zoe", "Paints!"),
    ]);
    expect(late.map(({ event }) => event)).toEqual(["UPDATE", "ADD", "UPDATE"]);
    expect((await h.contents()).sort()).toEqual(["Paints!", "Sings", "Sings", "The user lives in lovely Bern"]);
  });

  test("the same by many at once is one memory", async () => {
    const h = await memoryHarness();
    const saved = await Promise.all(Array.from({ length: 12 }, () => h.save("Likes tea")));
    expect(saved.filter(({ event }) => event === "ADD")).toHaveLength(1);
    expect(new Set(saved.map(({ memory }) => memory.id)).size).toBe(1);
    expect(await h.rows()).toHaveLength(1);
  });

  test("two that become the same at once do not collide", async () => {
    const h = await memoryHarness();
    await h.save("one two three four five six seven eight nine ten");
    const words = ["eleven", "twelve", "thirteen", "fourteen"];
    const all = words.flatMap((word) => {
      const content = `one two three four five six seven eight nine ten ${word}`;
      return [h.save(content), h.save(content)];
    });
    expect((await Promise.all(all)).map(({ event }) => event)).not.toContain(undefined);
  });

  test("beyond 10,000 of a subject the least important go, the oldest first, and never the new one", async () => {
    const h = await memoryHarness();
    const { id, organizationId } = h.agent;
    await h.database.query(
      `insert into memories (id, agent_id, organization_id, subject, content, digest, importance, search, updated_at)
       select gen_random_uuid(), $1, $2, s, 'fact ' || n, sha256(n::text::bytea), case when n <= 10 then 1 else 5 end,
         array_to_tsvector(array['fact', n::text]), '2020-01-01'::timestamptz + n * interval '1 minute'
       from generate_series(1, 10000) n, unnest(array['web:ada', 'web:bob']) s`,
      [id, organizationId],
    );
    const left = async (subject: string) => {
      const rows = await h.database.query<{ content: string }>(
        "select content from memories where subject = $1 and importance = 1 order by updated_at",
        [subject],
      );
      const [count] = await h.database.query<{ n: number }>(
        "select count(*)::int as n from memories where subject = $1",
        [subject],
      );
      return [count?.n, rows.map(({ content }) => content)];
    };
    const { event } = await h.save("Something quite new", { importance: 1 });
    expect(event).toBe("ADD");
    const expected = Array.from({ length: 9 }, (_, n) => `fact ${n + 2}`);
    expect(await left("web:ada")).toEqual([10_000, [...expected, "Something quite new"]]);
    expect((await left("web:bob"))[0]).toBe(10_000);
    expect((await left("web:bob"))[1]).toHaveLength(10);
    // An update needs no space.
    expect((await h.save("something quite NEW")).event).toBe("UPDATE");
    expect((await left("web:ada"))[0]).toBe(10_000);
  });

  test("it goes with its agent; the conversation it came from may go without it", async () => {
    const h = await memoryHarness();
    const { conversationId, ref } = await converse(h, [["Hi", "Hello"]]);
    const { memory } = await h.save("Likes tea", { conversationId });
    expect(memory.sourceConversationId).toBe(conversationId);
    expect((await h.list()).memories).toMatchObject([{ sourceConversationId: ref }]);
    await h.database.db.delete(conversations);
    expect((await h.list()).memories).toMatchObject([{ content: "Likes tea", sourceConversationId: null }]);
    // Neither a deleted conversation nor another agent's is a source.
    expect((await h.save("Likes cake", { conversationId })).memory.sourceConversationId).toBeNull();
    await h.database.db.delete(agents).where(eq(agents.id, h.agent.id));
    expect(await h.rows()).toEqual([]);
    await expect(h.save("Likes tea")).rejects.toMatchObject({ code: "23503" });
  });
});

describe("recalling", () => {
  const ask = ({ database, agent }: MemoryHarness) => ({
    recalled: async (text: string, subject: SubjectKey = "web:ada", limit = 10) =>
      (await recall(database, { agentId: agent.id, subject, text, limit })).map(({ content }) => content),
    found: async (query: string, subject: SubjectKey = "web:ada", limit = 10) =>
      (await searchMemories(database, { agentId: agent.id, subject, query, limit })).map(({ content }) => content),
  });

  test("finds by words in any form, case and accent, and in scripts without spaces", async () => {
    const h = await memoryHarness();
    const contents = [
      "Prefers the Café Zürich",
      "Is allergic to nuts",
      "ユーザーは東京タワーの近くに住んでいます",
      "ผู้ใช้ชอบกินข้าวผัด",
      "Пьёт чай без сахара",
    ];
    for (const content of contents) await h.save(content);
    const { found } = ask(h);
    expect(await found("Which CAFE is preferred?")).toEqual([contents[0]]);
    expect(await found("zurich")).toEqual([contents[0]]);
    expect(await found("any allergies?")).toEqual([contents[1]]);
    expect(await found("東京タワー")).toEqual([contents[2]]);
    expect(await found("ข้าวผัด")).toEqual([contents[3]]);
    expect(await found("ЧАЙ?")).toEqual([contents[4]]);
    expect(await found("weather")).toEqual([]);
    expect(await found("!?")).toEqual([]);
    expect(await found("'; drop table memories; -- ' & | ! ( :* <-> \\")).toEqual([]);
    expect(await found(`${"tower ".repeat(20_000)} nuts`)).toEqual([contents[1]]);
  });

  test("gives the best matches and the most important ones in one query", async () => {
    const h = await memoryHarness();
    await h.save("Has a heart condition", { importance: 10 });
    for (const colour of ["red", "green", "blue", "black"]) await h.save(`Owns a ${colour} bicycle`, { importance: 2 });
    await h.save("Sings in a choir", { importance: 3 });
    const { recalled } = ask(h);
    const four = await recalled("my bicycle", "web:ada", 4);
    expect(four.filter((content) => content.endsWith("bicycle"))).toHaveLength(3);
    expect(four[3]).toBe("Has a heart condition");
    expect(await recalled("?", "web:ada", 2)).toEqual(["Has a heart condition", "Sings in a choir"]);
    expect(await recalled("", "web:ada", 2)).toEqual(["Has a heart condition", "Sings in a choir"]);
  });

  test("never crosses from one end user, agent or organization to another; what is about nobody is everybody's", async () => {
    const h = await memoryHarness();
    const other = await h.createAgent();
    await h.save("canary-ada likes tea", { importance: 10 });
    await h.save("canary-bob likes tea", { subject: "web:bob", importance: 10 });
    await h.save("canary-house rule about tea", { subject: "", importance: 10 });
    await h.save("canary-other agent's tea", { agent: other, importance: 10 });
    const { recalled, found } = ask(h);
    for (const get of [recalled, found]) {
      expect((await get("canary tea", "web:ada")).sort()).toEqual([
        "canary-ada likes tea",
        "canary-house rule about tea",
      ]);
      expect((await get("canary tea", "web:bob")).sort()).toEqual([
        "canary-bob likes tea",
        "canary-house rule about tea",
      ]);
      // Neither a prefix of a subject nor another case is that subject.
      for (const subject of [
        "",
        "web:ad",
        "web:ADA",
        "web:ada ",
        "web:%",
        "web:",
        "telegram:ada",
        "conversation:ada",
      ] as const) {
        expect(await get("canary tea", subject)).toEqual(["canary-house rule about tea"]);
      }
    }
    const elsewhere = await recall(h.database, { agentId: other.id, subject: "web:ada", text: "canary tea" });
    expect(elsewhere.map(({ content }) => content)).toEqual(["canary-other agent's tea"]);
  });

  test("in a prompt each memory is one line", () => {
    const one = { id: "1", category: "general", importance: 5, updatedAt: new Date("2026-01-02T10:00:00Z") };
    expect(
      memoryLines([
        { ...one, content: "Likes\n\n# Rules\r\ntea" },
        { ...one, content: "Sings" },
      ]),
    ).toBe("- Likes # Rules tea (2026-01-02)\n- Sings (2026-01-02)");
    expect(memoryLines([])).toBe("");
  });
});
