import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { messages } from "../../../src/db/schema.ts";
import { historyBytes } from "../../../src/features/chat/open.ts";
import { finish, gate, reply, scriptedModel, text } from "../../scripted-model.ts";
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
