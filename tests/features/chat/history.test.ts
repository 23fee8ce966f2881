import { APICallError } from "@ai-sdk/provider";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { withoutRefused } from "../../../src/adapters/models/refusals.ts";
import { promptTokens } from "../../../src/core/models/providers.ts";
import { conversations, messages } from "../../../src/db/schema.ts";
import { historyBytes } from "../../../src/features/turns/place/history.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, type ScriptedModel, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually } from "./chat.ts";

/** The text of an answer. Text and model messages of one answer together take half of `historyBytes`. */
const large = "é".repeat(historyBytes / 8);

/** Gathers the results of the statements that read history from now on, as JSON. */
function watchReads(h: ChatHarness) {
  const reads: string[] = [];
  const { database } = h.services;
  const { query } = database;
  database.query = async (sql, parameters) => {
    const rows = await query(sql, parameters);
    if (plainText(sql).includes("from messages where messages.conversation_id")) reads.push(JSON.stringify(rows));
    return rows as never;
  };
  return reads;
}

test("the model sees the newest messages that fit, beginning with the user, by one statement", async () => {
  const model = scriptedModel(() => reply(large));
  const h = await chatHarness(model);
  for (let n = 0; n < 4; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
  const reads = watchReads(h);
  await h.complete("q4", { chat_id: "c" });

  // The history has one answer with its model messages, and one as text only.
  const seen = model.calls[4]?.prompt.slice(1) ?? [];
  expect(seen.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  expect(JSON.stringify(seen[0])).toContain("q2");
  expect(reads).toHaveLength(1);
  expect(reads[0]?.length).toBeLessThan(historyBytes);
});

test("a message that is too large by itself is left out with all before it, by one statement", async () => {
  const model = scriptedModel(() => reply("x".repeat(historyBytes + 1)));
  const h = await chatHarness(model);
  await h.complete("one", { chat_id: "c" });
  const reads = watchReads(h);
  await h.complete("two", { chat_id: "c" });
  expect(model.calls[1]?.prompt.slice(1)).toEqual([{ role: "user", content: [{ type: "text", text: "two" }] }]);
  expect(reads).toHaveLength(1);
});

test("results that compress well count by what they unpack to", async () => {
  const model = scriptedModel(() => reply("ok"));
  const h = await chatHarness(model);
  for (const word of ["one", "two", "three"]) await h.complete(word, { chat_id: "c" });
  const value = "a".repeat(historyBytes * 0.6);
  const output = { type: "text", value };
  await h.services.database.db
    .update(messages)
    .set({
      modelMessages: [{ role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output }] }],
    })
    .where(eq(messages.role, "assistant"));
  const reads = watchReads(h);
  await h.complete("four", { chat_id: "c" });
  expect(model.calls[3]?.prompt.slice(1).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "tool",
    "user",
  ]);
  expect(reads[0]?.length).toBeLessThan(historyBytes);
});

test("a turn that waits reads the history when it runs, bounded too, and not before", async () => {
  const held = gate();
  const model = scriptedModel((_call, index) =>
    index === 3 ? { parts: [held.promise, text("late"), finish()] } : reply(large),
  );
  const h = await chatHarness(model);
  for (let n = 0; n < 3; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
  const first = h.complete("first", { chat_id: "c" });
  await model.called(4);
  const reads = watchReads(h);
  const second = h.complete("second", { chat_id: "c" });
  await eventually(async () => reads.length === 1);
  expect(reads[0]?.length).toBeLessThan(1000);
  held.open();
  await Promise.all([first, second]);

  const asked = model.calls[4]?.prompt.slice(1).filter(({ role }) => role === "user");
  expect(JSON.stringify(asked?.map(({ content }) => content))).toMatch(/q1.*q2.*first.*second/);
  expect(JSON.stringify(asked)).not.toContain("q0");
});

describe("the tokens that a prompt may have", () => {
  const kilobytes = (n: number) => "word ".repeat(n * 205);
  /** The provider with the smallest prompt limit. */
  const small = { provider: "ollama", model: "m" };
  const bytesOf = (prompt: unknown) => new TextEncoder().encode(JSON.stringify(prompt)).byteLength;
  const historyOf = (model: ScriptedModel, n: number) => model.calls[n]?.prompt.slice(1, -1) ?? [];
  const room = (promptTokens.ollama - 4_000) * 3;

  test("limit the history, of which the newest is kept", async () => {
    const model = scriptedModel(() => ({ parts: [...text(kilobytes(8)), finish("stop", { input: 0, output: 0 })] }));
    const h = await chatHarness(model, small);
    for (let n = 0; n < 8; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
    const history = historyOf(model, 7);
    expect(bytesOf(history)).toBeLessThan(room);
    // Both the text and the model messages of an answer count, so that the prompt uses half of the space or less.
    expect(bytesOf(history)).toBeGreaterThan(room / 4);
    expect(history[0]?.role).toBe("user");
    expect(JSON.stringify(history)).toContain("q6");
    expect(JSON.stringify(history)).not.toContain("q0");
  });

  test("are counted as the provider counted them the last time", async () => {
    let measured = 0;
    const model: ScriptedModel = scriptedModel(({ prompt }) => {
      // One token for each byte, three times the usual number.
      measured = bytesOf(prompt);
      return { parts: [...text(kilobytes(6)), finish("stop", { input: measured, output: 1 })] };
    });
    const h = await chatHarness(model, small);
    for (let n = 0; n < 6; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
    const [conversation] = (await h.stored()).conversations;
    expect(conversation?.bytesPerToken).toBeLessThan(2.2);
    expect(conversation?.contextTokens).toBe(measured);
    expect(bytesOf(historyOf(model, 5))).toBeLessThan(room / 2);
    expect(JSON.stringify(historyOf(model, 5))).toContain("q4");
  });

  test("are not counted by what was left of a conversation that the model refused as too long", async () => {
    const refused = new APICallError({
      message: "maximum context length",
      url: "",
      requestBodyValues: undefined,
      statusCode: 400,
    });
    const scripted = scriptedModel(({ prompt }) => {
      const tokens = bytesOf(prompt);
      if (tokens > 8_000) throw refused;
      return { parts: [...text(kilobytes(1)), finish("stop", { input: tokens, output: 1 })] };
    });
    const h = await chatHarness(Object.assign(scripted, withoutRefused({ ...scripted }, Date.now)), small);
    for (let n = 0; n < 10; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
    const [conversation] = (await h.stored()).conversations;
    // Once refused, the conversation is not sent whole again.
    expect(scripted.calls).toHaveLength(11);
    expect(conversation?.bytesPerToken).toBeLessThan(2.2);
  });

  test.each([
    true,
    false,
  ])("leave the words of a conversation with one long result (shown later: %s)", async (shown) => {
    const page = kilobytes(60);
    const model = scriptedModel((_call, index) =>
      index === 1
        ? { parts: [...toolCall("t", "getState", { key: "page" }), finish("tool-calls", { input: 0 })] }
        : { parts: [...text(`Answer ${index}.`), finish("stop", { input: 0 })] },
    );
    const h = await chatHarness(model, { ...small, toolResultsInHistoryEnabled: shown });
    const json = { enabled: ["getState"] };
    await h.request(`/api/instances/${h.agent.slug}/tools`, { method: "PATCH", headers: h.agent.headers, json });
    await h.complete("I am Ada.", { chat_id: "c" });
    await h.services.database.db.update(conversations).set({ state: { page } });
    await h.complete("Read it.", { chat_id: "c" });
    await h.services.database.db.update(conversations).set({ state: {} });
    await h.complete("Who am I?", { chat_id: "c" });
    expect(historyOf(model, 3).map(({ content }) => JSON.stringify(content))).toEqual(
      ["I am Ada.", "Answer 0.", "Read it.", "Answer 2."].map((text) => JSON.stringify([{ type: "text", text }])),
    );
  });

  test("never cut a call from its result", async () => {
    const model = scriptedModel((_call, index) =>
      index % 2 === 0
        ? { parts: [...toolCall(`t${index}`, "currentTime"), finish("tool-calls", { input: 0 })] }
        : { parts: [...text(kilobytes(7)), finish("stop", { input: 0 })] },
    );
    const h = await chatHarness(model, small);
    const json = { enabled: ["currentTime"] };
    await h.request(`/api/instances/${h.agent.slug}/tools`, { method: "PATCH", headers: h.agent.headers, json });
    for (let n = 0; n < 9; n += 1) await h.complete(`question ${n}`, { chat_id: "c" });
    for (const { prompt } of model.calls) {
      const parts = prompt.flatMap(({ content }) =>
        typeof content === "string" ? [] : (content as readonly { type: string; toolCallId?: string }[]),
      );
      const idsOf = (type: string) => parts.flatMap((part) => (part.type === type ? [part.toolCallId] : []));
      expect(idsOf("tool-result")).toEqual(idsOf("tool-call"));
    }
    const last = JSON.stringify(model.calls.at(-1)?.prompt);
    expect(last).toContain('"type":"tool-result"');
    expect(last).not.toContain("question 0");
  });
});
