import { expect, test } from "vitest";
import { unreadStatements } from "../../../src/features/memories/extraction/unread.ts";
import { explaining, ofSubjects } from "../../plan.ts";
import { converse, memoryHarness } from "./memories.ts";

test("the turn of a message is looked up by its key, also by a plan that was made while there were few", async () => {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  const { conversationId } = await converse(h, [["I live in Bern", "Nice!"]]);
  // Without statistics, PostgreSQL guesses the number of rows from their size.
  await h.database.query(
    `with more as (
       insert into turns (id, agent_id, organization_id, conversation_id, subject, status, owner, lease_until, door, provider)
       select gen_random_uuid(), agent_id, organization_id, gen_random_uuid(), subject, status, owner, lease_until, door, provider
       from turns, generate_series(1, 1000) returning id, conversation_id
     ) insert into messages (id, conversation_id, turn_id, seq, role, content)
       select gen_random_uuid(), conversation_id, id, seq, 'user', 'I live in Bern and like tea' from more, generate_series(1, 4) seq`,
    [],
  );
  const explained = explaining(h.database);
  const { sourceOf, earlierThan } = unreadStatements({ ...h, database: explained.database });
  await sourceOf(conversationId);
  await earlierThan({ conversationId, subject: "web:ada", seq: 3 });
  const ofTurns = explained.reads("turns");
  expect(ofTurns.map(({ indexes }) => indexes)).toEqual([["turns_pkey"], ["turns_pkey"]]);
  for (const { read } of ofTurns) expect(read).toBeLessThanOrEqual(2);
});

test("whether something is known of the end users is seen in the index, whatever is known of others", async () => {
  const h = await memoryHarness({ fastModel: "openai:fast" });
  const { conversationId } = await converse(h, [["I live in Bern", "Nice!"]]);
  const isKnown = async () => (await unreadStatements(h).sourceOf(conversationId))?.known;
  expect(await isKnown()).toBe(false);
  await h.save("Likes tea", { subject: "web:bob" });
  await h.database.query(
    `insert into memories (id, agent_id, organization_id, subject, content, digest, search)
     select gen_random_uuid(), agent_id, organization_id, subject || n, content, digest, search from memories, generate_series(1, 8000) n`,
    [],
  );
  const explained = explaining(h.database);
  await unreadStatements({ ...h, database: explained.database }).sourceOf(conversationId);
  expect(explained.reads("memories")).toEqual([{ indexes: [expect.stringMatching(ofSubjects)], read: 0, inVain: 0 }]);
  await h.save("Sings");
  expect(await isKnown()).toBe(true);
  await h.database.query("delete from memories where subject = 'web:ada'", []);
  expect(await isKnown()).toBe(false);
  await h.save("Closed on Sundays", { subject: "" });
  expect(await isKnown()).toBe(true);
});
