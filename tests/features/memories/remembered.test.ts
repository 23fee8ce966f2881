import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { unreadStatements } from "../../../src/features/memories/extraction/unread.ts";
import { writeFacts } from "../../../src/features/memories/store-statements.ts";
import { openStatement } from "../../../src/features/turns/place/open-statement.ts";
import { explaining, keptIndexes, ofSubjects, sum } from "../../plan.ts";
import { converse, memoryHarness } from "./memories.ts";

/** An agent with 20,000 memories of three end users, of which PostgreSQL knows that few users have many each. */
async function crowded() {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  await h.save("Likes tea", { subject: "web:bob" });
  await h.database.query(
    `insert into memories (id, agent_id, organization_id, subject, content, digest, search)
     select gen_random_uuid(), agent_id, organization_id, subject || n % 3, content, int8send(n), search from memories, generate_series(1, 20000) n`,
    [],
  );
  await h.database.query("analyze memories", []);
  const explained = explaining(h.database);
  return { ...h, explained: explained.database, reads: () => explained.reads("memories") };
}

test("that nothing is known of an end user is seen without a look at what is known of others", async () => {
  const h = await crowded();
  const { conversationId } = await converse(h, [["I live in Bern", "Nice!"]]);
  await unreadStatements({ ...h, database: h.explained }).sourceOf(conversationId);
  expect(h.reads()).toEqual([{ indexes: [expect.stringMatching(ofSubjects)], read: 0, inVain: 0 }]);
});

test("nor is it looked at to store what is the first of end users", async () => {
  const h = await crowded();
  const { id: agentId, organizationId } = h.agent;
  const fact = { agentId, organizationId, content: "Sings", digest: "00", words: null, search: ["sings"] };
  const first = { ...fact, category: null, importance: null, conversationId: null, known: null, first: true };
  await writeFacts(
    h.explained,
    (["web:ada", "web:eve"] as const).map((subject, nth) => ({ ...first, nth, id: newId(), subject })),
  );
  expect(sum(h.reads().map(({ inVain }) => inVain))).toBe(0);
  expect((await h.list("?subject=eve")).memories).toHaveLength(1);
});

test("nor does a turn look at it", async () => {
  const h = await crowded();
  const parts = { throttled: false, stored: true, remembers: true, ofAgent: false, ofUser: false };
  expect(await keptIndexes(h.database, openStatement(parts).text, "memories")).toEqual(
    Array(2).fill([expect.stringMatching(ofSubjects)]),
  );
});
