import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { turns } from "../../../src/db/schema.ts";
import { finish, gate, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { serveAnother } from "../../second-server.ts";
import { type ChatHarness, chatHarness, dataLines, readEvents } from "./chat.ts";

const once = { headers: { "Idempotency-Key": "order-1" } };
const counting = () => {
  let answers = 0;
  return scriptedModel(() => {
    answers += 1;
    return reply(`Answer ${answers}.`);
  });
};
const contentOf = async (response: Response) => (await response.json()).choices[0].message.content;
const chunkText = (body: string) =>
  dataLines(body)
    .filter((line) => line !== "[DONE]")
    .map((line) => JSON.parse(line).choices[0].delta.content ?? "");

describe("a repeat with the same Idempotency-Key", () => {
  test("is given the stored reply, whole or as one delta, and runs no second turn", async () => {
    const model = counting();
    const h = await chatHarness(model);
    const first = await h.complete("Hello", { chat_id: "c" }, once);
    expect([first.headers.get("Idempotent-Replayed"), await contentOf(first)]).toEqual([null, "Answer 1."]);
    const again = await h.complete("Hello", { chat_id: "c" }, once);
    const body = await again.json();
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect(body.choices[0]).toEqual({
      index: 0,
      message: { role: "assistant", content: "Answer 1." },
      finish_reason: "stop",
    });
    expect(body.usage).toEqual({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 });

    const streamed = { chat_id: "s", stream: true };
    await (await h.complete("Hello", streamed, once)).text();
    const repeated = await (await h.complete("Hello", streamed, once)).text();
    expect(chunkText(repeated)).toEqual(["", "Answer 2.", ""]);
    expect(repeated.endsWith('"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')).toBe(true);
    expect(model.calls).toHaveLength(2);
    expect((await h.stored()).messages).toHaveLength(4);
  });

  test("natively is the text and `done` of the first turn", async () => {
    const model = counting();
    const h = await chatHarness(model);
    const first = await readEvents(await h.native("Hello", { chat_id: "c" }, once));
    const again = await readEvents(await h.native("Hello", { chat_id: "c" }, once));
    // A repeat has no ids, since ids name the events of the first stream.
    expect(again).toEqual([
      { id: "", event: "text-delta", data: { text: "Answer 1." } },
      { id: "", event: "done", data: first.at(-1)?.data },
    ]);
    expect(model.calls).toHaveLength(1);
  });

  test("with another body is refused: 422, an error natively as well", async () => {
    const h = await chatHarness(counting());
    await h.complete("Hello", { chat_id: "c" }, once);
    expect((await h.complete("Hello!", { chat_id: "c" }, once)).status).toBe(422);
    expect((await h.complete("Hello", { chat_id: "c", stream: true }, once)).status).toBe(422);
    expect((await h.native("Hello", { chat_id: "c" }, once)).status).toBe(422);
  });

  test("while the first one runs is a 409, also when both come at the same moment", async () => {
    const held = gate();
    const model = scriptedModel(() => ({ parts: [held.promise, text("Done."), finish()] }));
    const h = await chatHarness(model);
    const both = [1, 2, 3].map(() => h.complete("Hello", { chat_id: "c" }, once));
    await model.called(1);
    const refused = await Promise.any(both.map(async (one) => (await one).status));
    expect(refused).toBe(409);
    expect((await h.complete("Hello", { chat_id: "c" }, once)).status).toBe(409);
    held.open();
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(model.calls).toHaveLength(1);
  });

  test("is a new turn after a failure, after an abort, after a crash and after a day", async () => {
    const model = scriptedModel([
      { fail: new Error("boom") },
      { parts: [text("Half"), new Error("broke")] },
      reply("Third."),
      reply("Fourth."),
      reply("Fifth."),
    ]);
    const h = await chatHarness(model);
    const ask = () => h.complete("Hello", { chat_id: "c" }, once);
    expect((await ask()).status).toBe(502);
    expect((await ask()).status).toBe(502);
    expect(await contentOf(await ask())).toBe("Third.");
    const { db } = h.services.database;
    await db.update(turns).set({ createdAt: sql`now() - interval '25 hours'` });
    expect(await contentOf(await ask())).toBe("Fourth.");
    await db
      .update(turns)
      .set({ status: "running", leaseUntil: new Date(0) })
      .where(sql`idempotency_key is not null`);
    await h.services.database.query("update conversations set open_turns = open_turns + 1", []);
    expect(await contentOf(await ask())).toBe("Fifth.");
  });

  test("holds in its conversation only, and without one not at all", async () => {
    const model = counting();
    const h = await chatHarness(model);
    const texts: string[] = [];
    for (const extra of [{ chat_id: "c" }, { chat_id: "d" }, {}, {}]) {
      texts.push(await contentOf(await h.complete("Hello", extra, once)));
    }
    expect(texts).toEqual(["Answer 1.", "Answer 2.", "Answer 3.", "Answer 4."]);
  });

  test("does not write the call's context again", async () => {
    const h = await chatHarness(counting());
    const config = { contextMapping: { plan: "plan" } };
    const path = `/api/instances/${h.agent.slug}/channels/web`;
    await h.request(path, { method: "PUT", headers: h.agent.headers, json: { config } });
    const extra = { chat_id: "c", context: { plan: "pro" } };
    await h.complete("Hello", extra, once);
    await h.complete("Other", { chat_id: "c", context: { plan: "free" } });
    await h.complete("Hello", extra, once);
    expect((await h.stored()).conversations[0]?.state).toEqual({ plan: "free" });
  });

  test("tells again for which approval the turn waits", async () => {
    const model = scriptedModel([
      { parts: [text("One moment."), ...toolCall("t", "currentTime"), finish("tool-calls")] },
    ]);
    const h = await chatHarness(model);
    const json = { enabled: ["currentTime"], needsApproval: ["currentTime"] };
    await h.request(`/api/instances/${h.agent.slug}/tools`, { method: "PATCH", headers: h.agent.headers, json });
    const first = await contentOf(await h.complete("Time?", { chat_id: "c" }, once));
    expect(first).toBe("One moment.\n\nApproval is pending for: currentTime.");
    expect(await contentOf(await h.complete("Time?", { chat_id: "c" }, once))).toBe(first);
  });

  test("counts as a call of the throttle", async () => {
    const h = await chatHarness(counting());
    const headers = { ...once.headers, "X-Forwarded-For": "203.0.113.9" };
    const statuses: number[] = [];
    for (let n = 0; n < 21; n += 1) statuses.push((await h.complete("x", { chat_id: "c" }, { headers })).status);
    expect(statuses.at(-1)).toBe(429);
  });

  test("counts as one when it is refused, too", async () => {
    const h = await chatHarness(counting());
    const headers = { ...once.headers, "X-Forwarded-For": "203.0.113.9" };
    await h.complete("x", { chat_id: "c" }, { headers });
    const statuses: number[] = [];
    for (let n = 0; n < 20; n += 1) statuses.push((await h.complete("y", { chat_id: "c" }, { headers })).status);
    expect(statuses).toEqual([...Array(19).fill(422), 429]);
  });

  test("after a stop that cut the whole reply is answered, and the message is stored once", async () => {
    const begun = { parts: [text("half"), toolCall("c", "none"), finish("tool-calls")] };
    const model = scriptedModel([begun, { opens: new Promise<never>(() => {}) }, reply("Whole.")]);
    const h = await chatHarness(model);
    const cut = h.complete("Hello", { chat_id: "c" }, once);
    await model.called(2);
    await h.engine.stop(0);
    expect([(await cut).status, (await cut).headers.get("Retry-After")]).toEqual([503, "5"]);
    expect((await h.stored()).messages).toEqual([]);

    const restarted = await serveAnother(h);
    const again = await fetch(`${restarted}/v1/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${h.agent.key}`, ...once.headers },
      body: JSON.stringify({
        model: h.agent.slug,
        messages: [{ role: "user", content: "Hello" }],
        chat_id: "c",
      }),
    });
    expect([again.status, await contentOf(again)]).toEqual([200, "Whole."]);
    const { messages, turns } = await h.stored();
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Hello"],
      ["assistant", "Whole."],
    ]);
    expect(turns.map(({ status, errorCode }) => [status, errorCode])).toEqual([
      ["aborted", "shutdown"],
      ["done", null],
    ]);
  });
});

test.each(["", "a b", "é", "x".repeat(256)])("the key %j is refused", async (key) => {
  const h: ChatHarness = await chatHarness(scriptedModel([]));
  const asked = { headers: { "Idempotency-Key": key } };
  const statuses = [await h.complete("x", { chat_id: "c" }, asked), await h.native("x", { chat_id: "c" }, asked)];
  expect(statuses.map(({ status }) => status)).toEqual([400, 400]);
});
