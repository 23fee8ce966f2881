import { expect, test } from "vitest";
import { turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { finish, gate, reply, text, toolCall } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { answering, doing } from "./answering.ts";
import { incoming, privateUpdate, storing } from "./messengers.ts";

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
  expect(turn).toMatchObject({ subject: "telegram:42", door: "inbox", status: "done" });
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
    // Its notice is lost.
    notify: { publish: () => {}, listen: () => () => {}, isHearing: () => true, close: async () => {} },
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

test("a messenger gets the last step's text only", async () => {
  const h = await answering(
    doing(
      { parts: [...text("Let me look. "), ...toolCall("c1", "current_time"), finish("tool-calls")] },
      reply("Noon."),
    ),
  );
  await h.say("What time?");
  await h.settle();
  await h.idle();
  expect(await h.sent()).toEqual(["Noon."]);
});

test.each([
  ["nothing", ""],
  ["blanks", " \n"],
  ["a space without width", "\u200b"],
])("a reply of %s behind a call is not sent, and takes no words away that came before it", async (_what, words) => {
  const calling = { parts: [...text("Done. "), ...toolCall("c1", "current_time"), finish("tool-calls")] };
  const h = await answering(doing(calling, reply(words)));
  await h.say("What time?");
  await h.settle();
  await h.idle();
  expect(await h.sent()).toEqual(["Done. "]);
});

test("a correction of a message that waits takes its place; one of an answered message is a new message", async () => {
  const h = await answering(doing(reply("Ok."), reply("Ok again.")));
  const edit = (content: string, id: number, at: number) => {
    const { message, update_id } = privateUpdate(content, id);
    return h.telegram({ update_id, edited_message: { ...message, edit_date: at } });
  };
  await h.say("By tomorow", 1);
  await h.say("please", 2);
  await edit("By tomorow!", 1, 10);
  await edit("By tomorrow", 1, 11);
  await h.settle();
  await h.idle();
  await edit("By Friday", 1, 12);
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([
    ["By tomorrow", "please"],
    ["By tomorrow", "please", "By Friday"],
  ]);
  expect(await h.statuses()).toEqual(["done", "done", "done", "done", "done"]);
});

test("in a group the model reads who wrote, and nobody's own memories are touched", async () => {
  const h = await answering(doing(reply("Hello all.")));
  const group = (content: string, id: number, from: { id: number; first_name: string }) =>
    h.telegram({
      update_id: id,
      message: {
        message_id: id,
        from: { ...from, is_bot: false },
        date: 1_767_225_600,
        text: content,
        chat: { id: -5, type: "group" },
        reply_to_message: { message_id: 1, from: { id: 1000, is_bot: true } },
      },
    });
  await group("Hello", 10, { id: 1, first_name: "Ada" });
  await group("Hi", 11, { id: 2, first_name: "Bob" });
  await h.settle();
  await h.idle();
  expect(h.prompts()).toEqual([["Ada (1): Hello", "Bob (2): Hi"]]);
  const [turn] = await h.services.database.db.select().from(turns);
  expect(turn?.subject).toBe(`conversation:${h.agent.slug}:telegram:-5`);
  expect((await h.rows()).outbox).toMatchObject([{ target: "-5", body: "Hello all." }]);
});

test("more messages than a turn takes are answered by the next one", async () => {
  const h = await answering(doing(reply("First."), reply("Second.")));
  const store = await storing(h, h.agent.slug);
  await store(...Array.from({ length: 130 }, () => incoming()));
  await h.settle();
  await h.idle();
  const said = (await h.rows()).inbox.map(({ payload }) => (payload as { text: string }).text);
  expect(h.prompts()[0]).toEqual(said.slice(0, 100));
  expect(h.prompts()[1]?.slice(-30)).toEqual(said.slice(100));
  expect(await h.sent()).toEqual(["First.", "Second."]);
});

test("what fell due while no process ran is answered soon after one starts", async () => {
  const h = await answering(doing(reply("Here I am.")));
  await (await storing(h, h.agent.slug))(incoming());
  await h.clock.advance(2_000);
  await createEngine(h.services).boot({});
  await h.clock.advance(2_000);
  await h.done(1);
  expect(await h.sent()).toEqual(["Here I am."]);
});
