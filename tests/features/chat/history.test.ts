import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { promptTokens } from "../../../src/core/providers.ts";
import { messages } from "../../../src/db/schema.ts";
import { historyBytes } from "../../../src/features/chat/reading.ts";
import { finish, gate, reply, type ScriptedModel, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually } from "./chat.ts";

/** An answer is read as text and as the provider's messages: half of this twice. */
const large = "é".repeat(historyBytes / 16);

/** What the statements before the model answer from here on, as JSON. */
function watchReads(h: ChatHarness) {
  const reads: string[] = [];
  const { database } = h.services;
  const { query } = database;
  database.query = async (sql, parameters) => {
    const rows = await query(sql, parameters);
    if (sql.includes("from messages")) reads.push(JSON.stringify(rows));
    return rows as never;
  };
  return reads;
}

test("the model sees the newest messages that fit, beginning with the user, by one statement", async () => {
  const model = scriptedModel(() => reply(large));
  const h = await chatHarness(model);
  for (let n = 0; n < 7; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
  const reads = watchReads(h);
  await h.complete("q7", { chat_id: "c" });

  const seen = model.calls[7]?.prompt.slice(1) ?? [];
  expect(seen.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user", "assistant", "user"]);
  expect(JSON.stringify(seen[0])).toContain("q4");
  expect(reads).toHaveLength(1);
  expect(reads[0]?.length).toBeLessThan(historyBytes);
});

test("a message that is too large by itself is left out with all before it, by one statement", async () => {
  const model = scriptedModel(() => reply("x".repeat(historyBytes / 2)));
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
  const value = "a".repeat(historyBytes * 0.75);
  const output = { type: "text", value };
  await h.services.database.db
    .update(messages)
    .set({
      modelMessages: [{ role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "t", output }] }],
    })
    .where(eq(messages.role, "assistant"));
  const reads = watchReads(h);
  await h.complete("four", { chat_id: "c" });
  expect(model.calls[3]?.prompt.slice(1).map(({ role }) => role)).toEqual(["user", "tool", "user"]);
  expect(reads[0]?.length).toBeLessThan(historyBytes);
});

test("a turn that waits reads the history when it runs, bounded too, and not before", async () => {
  const held = gate();
  const model = scriptedModel((_call, index) =>
    index === 4 ? { parts: [held.promise, text("late"), finish()] } : reply(large),
  );
  const h = await chatHarness(model);
  for (let n = 0; n < 4; n += 1) await h.complete(`q${n}`, { chat_id: "c" });
  const first = h.complete("first", { chat_id: "c" });
  await model.called(5);
  const reads = watchReads(h);
  const second = h.complete("second", { chat_id: "c" });
  await eventually(async () => reads.length === 1);
  expect(reads[0]?.length).toBeLessThan(1000);
  held.open();
  await Promise.all([first, second]);

  const asked = model.calls[5]?.prompt.slice(1).filter(({ role }) => role === "user");
  expect(JSON.stringify(asked?.map(({ content }) => content))).toMatch(/q1.*q2.*q3.*first.*second/);
  expect(JSON.stringify(asked)).not.toContain("q0");
});

describe("the tokens that a prompt may have", () => {
  const kilobytes = (n: number) => "word ".repeat(n * 205);
  /** A server of one's own, which takes the least. */
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
    // Text and the provider's message of it are counted both, so that half is the least that is there.
    expect(bytesOf(history)).toBeGreaterThan(room / 4);
    expect(history[0]?.role).toBe("user");
    expect(JSON.stringify(history)).toContain("q6");
    expect(JSON.stringify(history)).not.toContain("q0");
  });

  test("are counted as the provider counted them the last time", async () => {
    let measured = 0;
    const model: ScriptedModel = scriptedModel(({ prompt }) => {
      // Each byte a token: three times what is usual.
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
