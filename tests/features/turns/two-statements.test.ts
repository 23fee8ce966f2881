import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { plainText } from "../../plain-text.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { type ChatHarness, chatHarness } from "../chat/chat.ts";
import { providersOf } from "../chat/connections.ts";

interface Variation {
  extra?: object;
  /** Changes of the agent after the first turn. */
  between?: object[];
  prepare?: (h: ChatHarness) => Promise<void>;
}

/** The statements of the second turn of an agent, after an optional change. */
async function secondTurn(
  fields: object = {},
  { extra = { chat_id: "c" }, between = [], prepare = async () => {} }: Variation = {},
) {
  const h = await chatHarness(
    scriptedModel(() => reply("ok")),
    { memoryEnabled: false, ...fields },
  );
  await prepare(h);
  const say = async () => expect((await h.complete("Hi", extra)).status).toBe(200);
  await say();
  const { slug, headers } = h.agent;
  for (const json of between) await h.request(`/api/instances/${slug}`, { method: "PATCH", headers, json });
  // The first turn after a change loads the agent again.
  if (between.length > 0) await say();
  const statements = spyOnStatements(h.services.database);
  await say();
  const texts = statements.texts();
  statements.restore();
  return texts;
}

/** The tables that a statement names. */
const tablesOf = (statement = "") =>
  [...new Set([...statement.matchAll(/(?:from|into|update|join) ([a-z_]+)/g)].map(([, name = ""]) => name))].sort();

describe("a turn costs two statements:", () => {
  test("one of a conversation, which name no table that few turns need", async () => {
    const [open, record, ...more] = await secondTurn();
    expect(more).toEqual([]);
    expect(tablesOf(open)).toEqual(
      expect.arrayContaining(["agents", "conversations", "messages", "throttles", "turns"]),
    );
    expect(open).not.toMatch(/memories|budget_periods/);
    expect(tablesOf(record)).toEqual(expect.arrayContaining(["conversations", "messages", "turns"]));
    expect(record).not.toMatch(/tool_calls|hook_executions|files|jobs|inbox|outbox/);
  });

  test("one of an agent with a bound connection and two fallbacks, which name the same tables", async () => {
    const plain = await secondTurn();
    const bound = await secondTurn(
      {},
      {
        prepare: async (h) => {
          const { connect, bind } = providersOf(h);
          const [connectionId, ...others] = [await connect("a"), await connect("b"), await connect("c")];
          const fallbacks = others.map((id) => ({ connectionId: id, model: null }));
          await bind(h.agent.slug, "chat", connectionId, { fallbacks });
        },
      },
    );
    expect(bound.map(tablesOf)).toEqual(plain.map(tablesOf));
  });

  test("one of an agent that is debugged", async () => {
    const [, record, ...more] = await secondTurn({ debugEnabled: true });
    expect(more).toEqual([]);
    expect(record).toContain("debug = case");
  });

  test("a turn of which nothing is stored", async () => {
    const texts = await secondTurn({}, { extra: {} });
    expect(texts).toHaveLength(2);
    for (const statement of texts) expect(statement).not.toMatch(/conversations|messages/);
  });

  test("one of an agent with a budget", async () => {
    const [open, record, ...more] = await secondTurn({ monthlyTokenBudget: 100_000 });
    expect(more).toEqual([]);
    expect(open).toContain("insert into budget_periods");
    expect(record).toContain("update budget_periods");
  });

  test("one of an agent whose budget was taken off", async () => {
    const between = [{ monthlyTokenBudget: null }];
    const [, record, ...more] = await secondTurn({ monthlyTokenBudget: 100_000 }, { between });
    expect(more).toEqual([]);
    expect(record).toContain("update budget_periods");
  });
});

test("a turn whose end was stored and not answered is stored once, and has its reply", async () => {
  const h = await chatHarness(scriptedModel([reply("ok")]));
  const { database } = h.services;
  const { query } = database;
  database.query = async (statement, parameters) => {
    const rows = await query(statement, parameters);
    if (!plainText(statement).includes("insert into messages")) return rows as never;
    database.query = query;
    throw new EngineError("unavailable", "The database is unavailable");
  };
  const answer = h.complete("Hi", { chat_id: "c" });
  await expect.poll(() => database.query === query).toBe(true);
  await h.clock.advance(1_000);
  expect(await (await answer).json()).toMatchObject({ choices: [{ message: { content: "ok" } }] });
  const { messages, conversations } = await h.stored();
  expect([messages.length, conversations[0]?.openTurns, conversations[0]?.lastSeq]).toEqual([2, 0, 2]);
});

test("storing a reply of usual length compresses nothing of it", async () => {
  const words = Array.from({ length: 100 }, (_, n) => `token ${n} `).join("");
  const h = await chatHarness(scriptedModel(() => reply(words)));
  expect((await h.complete("Hi", { chat_id: "c" })).status).toBe(200);
  const [stored] = await h.services.database.query(
    `select pg_column_size(m.*) > 2000 as large, pg_column_compression(content) as content,
      pg_column_compression(search) as search, pg_column_compression(model_messages) as messages
     from messages m where role = 'assistant'`,
    [],
  );
  expect(stored).toEqual({ large: true, content: null, search: null, messages: null });
});
