import { expect, test } from "vitest";
import { newId } from "../../src/core/ids.ts";
import { upgradedDatabase } from "./older.ts";

test("messages keep the words that PostgreSQL found in them, and those of servers that go on meanwhile wait for theirs", async () => {
  const insert = (content: string) => `
    insert into messages (id, conversation_id, seq, role, content) values ('${newId()}', '${newId()}', 1, 'user', '${content}')`;
  const database = await upgradedDatabase(29, async (run) => void (await run(insert("Write to ada@example.com"))));
  await database.query(insert("Nobody has read this"), []);
  const rows = await database.query("select search::text as words from messages order by id", []);
  expect(rows).toEqual([{ words: "'ada@example.com':3 'to':2 'write':1" }, { words: "' '" }]);
});
