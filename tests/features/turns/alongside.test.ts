import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { conversations, inbox, outbox } from "../../../src/db/schema.ts";
import type { Alongside, TurnRequest } from "../../../src/features/turns/index.ts";
import { finish, gate, reply, type ScriptStep, scriptedModel, text } from "../../scripted-model.ts";
import { ownTurns, takeOwnTurn } from "../../turns.ts";
import { chatHarness, eventually } from "../chat/chat.ts";

/** A messenger's door that the test controls: its messages are stored before their turn is taken. */
async function messenger(...steps: ScriptStep[]) {
  const model = scriptedModel(steps);
  const h = await chatHarness(model);
  const { db } = h.services.database;
  const turns = ownTurns(h.services);
  const ref = `${h.agent.slug}:telegram:42`;

  const take = (fresh: string[], alongside?: TurnRequest["alongside"]) =>
    takeOwnTurn(turns, h.agent.slug, {
      door: "inbox",
      origin: { channel: "telegram", channelId: "42", source: "user", depth: 0, subject: "telegram:42" },
      ref,
      stored: true,
      input: { history: [], fresh },
      rule: "always-finish",
      requestId: newId(),
      throttle: null,
      ...(alongside ? { alongside } : {}),
    });
  /** Stores a message as an inbox would, after the earlier ones. */
  const receive = async (content: string) => {
    const [conversation] = await db.select().from(conversations).where(eq(conversations.ref, ref));
    if (!conversation) throw new Error("There is no conversation");
    const id = newId();
    const seq = conversation.lastInboxSeq + 1;
    const { agentId, id: conversationId } = conversation;
    const row = { id, agentId, channel: "telegram", providerId: id, conversationId, seq, sender: "42" };
    await db.insert(inbox).values({ ...row, payload: { content } });
    await db.update(conversations).set({ lastInboxSeq: seq }).where(eq(conversations.id, conversationId));
    return { id, seq };
  };
  const rows = async () => ({
    inbox: (await db.select().from(inbox)).map(({ id, status, turnId }) => ({ id, status, turnId })),
    outbox: (await db.select().from(outbox)).map(({ turnId, part, target, body }) => [turnId, part, target, body]),
  });
  // The conversation begins with a turn that writes nothing alongside.
  await (await take(["Hello"])).ended;
  return { ...h, model, take, receive, rows };
}

const sending = (part: Partial<Alongside>) => (outcome: { text: string }) => ({
  inboxIds: [],
  sends: [
    { channel: "telegram", target: "42", body: outcome.text },
    { channel: "telegram", target: "42", body: "Bye." },
  ],
  work: [],
  supersededAfter: null,
  ...part,
});

test("rows an endpoint writes along with a turn: messages answered, parts to send", async () => {
  const h = await messenger(reply("Hi."), reply("Yes."));
  const [first, other] = [await h.receive("Really?"), await h.receive("Another matter")];
  const turn = await h.take(["Really?"], sending({ inboxIds: [first.id] }));
  expect(await turn.ended).toMatchObject({ status: "done" });
  expect(await h.rows()).toEqual({
    inbox: expect.arrayContaining([
      { id: first.id, status: "done", turnId: turn.id },
      { id: other.id, status: "pending", turnId: null },
    ]),
    outbox: [
      [turn.id, 0, "42", "Yes."],
      [turn.id, 1, "42", "Bye."],
    ],
  });
});

test("newer messages supersede a turn at its end: nothing of it is stored but its row, and the conversation is free", async () => {
  const held = gate();
  const h = await messenger(reply("Hi."), { parts: [held.promise, ...text("Old."), finish()] }, reply("New."));
  const first = await h.receive("Buy");
  const old = await h.take(["Buy"], sending({ inboxIds: [first.id], supersededAfter: first.seq }));
  await h.model.called(2);
  const second = await h.receive("No, sell");
  held.open();
  expect(await old.ended).toMatchObject({ status: "aborted", reason: "superseded" });
  const { messages, turns } = await h.stored();
  expect(messages.map(({ content }) => content)).toEqual(["Hello", "Hi."]);
  expect(turns.find(({ id }) => id === old.id)).toMatchObject({ status: "aborted", errorCode: "superseded" });
  expect((await h.rows()).inbox.every(({ status }) => status === "pending")).toBe(true);
  expect((await h.rows()).outbox).toEqual([]);

  const ids = [first.id, second.id];
  const next = await h.take(["Buy", "No, sell"], sending({ inboxIds: ids, supersededAfter: second.seq }));
  expect(await next.ended).toMatchObject({ status: "done", text: "New." });
  expect((await h.stored()).messages.map(({ content }) => content)).toEqual([
    ...["Hello", "Hi.", "Buy", "No, sell", "New."],
  ]);
  expect((await h.rows()).inbox.map(({ turnId }) => turnId)).toEqual([next.id, next.id]);
});

test("a turn that was restarted often enough is stored, even when messages arrive", async () => {
  const h = await messenger(reply("Hi."), reply("Enough."));
  const first = await h.receive("One");
  await h.receive("Two");
  const turn = await h.take(["One"], sending({ inboxIds: [first.id] }));
  expect(await turn.ended).toMatchObject({ status: "done", text: "Enough." });
});

test("a turn superseded while it runs stores nothing, although it said something", async () => {
  const held = gate();
  const h = await messenger(reply("Hi."), { parts: [...text("Half"), held.promise, finish()] });
  const turn = await h.take(["Buy"]);
  await h.model.called(2);
  turn.abort("superseded");
  expect(await turn.ended).toMatchObject({ status: "aborted", reason: "superseded" });
  await eventually(async () => (await h.stored()).turns.at(-1)?.errorCode === "superseded");
  expect((await h.stored()).messages.map(({ content }) => content)).toEqual(["Hello", "Hi."]);
});

test("a discarded turn stores nothing but its row, whatever it said", async () => {
  const h = await messenger(reply("Hi."), { parts: [...text("Half"), new TypeError("terminated")] });
  const first = await h.receive("Buy");
  const turn = await h.take(["Buy"], () => ({
    inboxIds: [],
    sends: [],
    work: [],
    supersededAfter: null,
    discarded: true,
  }));
  expect(await turn.ended).toMatchObject({ status: "failed", text: "Half" });
  const { messages, turns } = await h.stored();
  expect(messages.map(({ content }) => content)).toEqual(["Hello", "Hi."]);
  expect(turns.find(({ id }) => id === turn.id)).toMatchObject({ status: "failed" });
  expect((await h.rows()).inbox).toEqual([{ id: first.id, status: "pending", turnId: null }]);
});

test("a turn whose messages were settled meanwhile stores nothing: they are not answered twice", async () => {
  const h = await messenger(reply("Hi."), reply("Once."), reply("Twice."));
  const first = await h.receive("Buy");
  const one = await h.take(["Buy"], sending({ inboxIds: [first.id] }));
  const other = await h.take(["Buy"], sending({ inboxIds: [first.id] }));
  expect(await one.ended).toMatchObject({ status: "done" });
  await h.clock.advance(1_000);
  expect(await other.ended).toMatchObject({ status: "aborted", reason: "superseded" });
  expect((await h.stored()).messages.map(({ content }) => content)).toEqual(["Hello", "Hi.", "Buy", "Once."]);
  expect((await h.rows()).inbox).toEqual([{ id: first.id, status: "done", turnId: one.id }]);
  expect((await h.rows()).outbox.map(([turnId]) => turnId)).toEqual([one.id, one.id]);
});

test("in a conversation that was deleted while its turn ran nothing more is sent", async () => {
  const held = gate();
  const h = await messenger(reply("Hi."), { parts: [held.promise, ...text("Too late."), finish()] });
  const first = await h.receive("Buy");
  const turn = await h.take(["Buy"], sending({ inboxIds: [first.id] }));
  await h.model.called(2);
  await h.services.database.db.delete(conversations);
  held.open();
  expect(await turn.ended).toMatchObject({ status: "done" });
  expect(await h.rows()).toEqual({ inbox: [], outbox: [] });
});
