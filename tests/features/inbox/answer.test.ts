import { expect, test } from "vitest";
import { messages, turns } from "../../../src/db/schema.ts";
import { finish, gate, reply, type ScriptStep, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { messengerHarness } from "./messengers.ts";

type Options = NonNullable<Parameters<typeof messengerHarness>[0]>;

async function answering(script: Parameters<typeof scriptedModel>[0], options: Options = {}) {
  const model = scriptedModel(script);
  const h = await messengerHarness({ model, ...options });
  const { db } = h.services.database;
  const prompts = () =>
    model.calls.map(({ prompt }) =>
      prompt.flatMap(({ role, content }) =>
        role === "user" ? content.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
      ),
    );
  return {
    ...h,
    model,
    prompts,
    /** What people were sent, or are going to be. */
    sent: async () => (await h.rows()).outbox.map(({ body }) => body),
    statuses: async () => (await h.rows()).inbox.map(({ status }) => status),
    transcript: async () =>
      (await db.select().from(messages).orderBy(messages.seq)).map(({ role, content }) => `${role}: ${content}`),
    turns: async () =>
      (await db.select().from(turns).orderBy(turns.createdAt)).map(({ status, errorCode }) => [status, errorCode]),
    /** Until the job after the debounce ran. */
    settle: async () => {
      await h.clock.advance(2_000);
      await h.engine.tick();
    },
    done: (count: number) =>
      eventually(async () => (await h.rows()).inbox.filter(({ status }) => status !== "pending").length >= count),
    idle: () => eventually(async () => !(await h.rows()).jobs.some(({ kind }) => kind === "inbox.answer")),
  };
}

const doing = (...steps: ScriptStep[]) => steps;

test("messages within the debounce are one turn, whose reply goes to the outbox with it", async () => {
  const h = await answering(doing(reply("Both seen.")));
  await h.say("One");
  await h.clock.advance(1_500);
  await h.say("Two");
  await h.clock.advance(1_500);
  expect(h.model.calls).toHaveLength(0);
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["One", "Two"]]);
  expect(await h.transcript()).toEqual(["user: One", "user: Two", "assistant: Both seen."]);
  const { inbox, outbox } = await h.rows();
  const [turn] = await h.services.database.db.select().from(turns);
  expect(turn).toMatchObject({ subject: "42", door: "inbox", status: "done" });
  expect(inbox).toMatchObject([
    { status: "done", turnId: turn?.id },
    { status: "done", turnId: turn?.id },
  ]);
  expect(outbox).toMatchObject([{ channel: "telegram", target: "42", body: "Both seen.", turnId: turn?.id, part: 0 }]);
});

test("an agent's own debounce counts", async () => {
  const h = await answering(doing(reply("Quick.")), { agent: { debounceMs: 0 } });
  await h.say("One");
  await h.idle();
  expect(await h.sent()).toEqual(["Quick."]);
});

test("a message that comes while the turn runs restarts it, and nothing of the first attempt is stored", async () => {
  const held = gate();
  const h = await answering(doing({ parts: [...text("Buying"), held.promise, finish()] }, reply("Not bought.")));
  await h.say("Buy");
  await h.settle();
  await h.model.called(1);
  await h.say("No, don't");
  await eventually(async () => (await h.turns())[0]?.[1] === "superseded");
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["Buy"], ["Buy", "No, don't"]]);
  expect(await h.transcript()).toEqual(["user: Buy", "user: No, don't", "assistant: Not bought."]);
  expect(await h.sent()).toEqual(["Not bought."]);
  held.open();
});

test("after maxRestarts a message waits for the next turn", async () => {
  const [first, second] = [gate(), gate()];
  const h = await answering(
    doing(
      { parts: [first.promise, ...text("A"), finish()] },
      { parts: [second.promise, ...text("B"), finish()] },
      reply("C"),
    ),
    { agent: { maxRestarts: 1 } },
  );
  await h.say("One");
  await h.settle();
  await h.model.called(1);
  await h.say("Two");
  await eventually(async () => (await h.turns())[0]?.[1] === "superseded");
  await h.settle();
  await h.model.called(2);
  await h.say("Three");
  second.open();
  await h.done(2);
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["One"], ["One", "Two"], ["One", "Two", "Three"]]);
  expect(await h.sent()).toEqual(["B", "C"]);
  expect((await h.turns()).map(([status]) => status)).toEqual(["aborted", "done", "done"]);
});

test("a turn that called a tool is not restarted", async () => {
  const held = gate();
  const h = await answering(
    doing(
      { parts: [...toolCall("c1", "current_time"), finish("tool-calls")] },
      { parts: [held.promise, ...text("Noon."), finish()] },
      reply("You're welcome."),
    ),
    { agent: { maxRestarts: 3 } },
  );
  await h.say("What time?");
  await h.settle();
  await h.model.called(2);
  await h.say("Thanks");
  await new Promise((resolve) => setImmediate(resolve));
  held.open();
  await h.done(1);
  await h.settle();
  await h.idle();
  expect(await h.sent()).toEqual(["Noon.", "You're welcome."]);
});

test("a message at the very moment of the record supersedes the turn there", async () => {
  const held = gate();
  const h = await answering(doing({ parts: [held.promise, ...text("Old."), finish()] }, reply("New.")), {
    // Its notice never comes.
    notify: { publish: () => {}, listen: () => () => {}, close: async () => {} },
  });
  await h.say("One");
  await h.settle();
  await h.model.called(1);
  await h.say("Two");
  held.open();
  await eventually(async () => (await h.turns())[0]?.[1] === "superseded");
  await h.settle();
  await h.idle();
  expect(await h.sent()).toEqual(["New."]);
  expect(h.prompts().at(-1)).toEqual(["One", "Two"]);
});
