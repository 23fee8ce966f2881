import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { channels, hookExecutions, hooks, messages } from "../../../src/db/schema.ts";
import { repliesElsewhere } from "../../../src/features/inbox/index.ts";
import { echoJobs } from "../../../src/features/inbox/outbox/echo.ts";
import type { TurnOutcome } from "../../../src/turn/types.ts";
import { handlerOf } from "../../jobs/jobs.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { adaTarget, paragraphs } from "./sending.ts";
import { ref, roomRef, withRoom } from "./told.ts";

const unasked = ["user", expect.stringContaining("of your own accord")];

describe("a message an agent sends unasked", () => {
  test("explains a person's answer, also where nothing was said before", async () => {
    const h = await withRoom();
    const turnId = await h.work("The shelf is empty");
    await h.say("Shall I order more?", { turnId });
    await h.isEchoed();
    expect(await h.said()).toEqual([[1, "assistant", "Shall I order more?"]]);
    const [message] = await h.transcript();
    expect(message).toMatchObject({ turnId: null, metadata: { sentBy: { turnId, conversationId: roomRef } } });
    expect(await h.conversation()).toMatchObject({
      channel: "telegram",
      channelId: adaTarget,
      subject: `conversation:${ref}`,
      source: "user",
      lastSeq: 1,
      messageCount: 1,
      openTurns: 0,
      lastInboxSeq: 0,
    });
    await h.answer("Yes, do it");
    expect(h.prompt()).toEqual([unasked, ["assistant", "Shall I order more?"], ["user", "Yes, do it"]]);
    expect((await h.said()).slice(1)).toEqual([
      [2, "user", "Yes, do it"],
      [3, "assistant", "Re: Yes, do it"],
    ]);
    expect(await h.conversation()).toMatchObject({ lastSeq: 3, messageCount: 3 });
    await h.allSent();
    expect(h.texts()).toEqual(["Shall I order more?", "Re: Yes, do it"]);
  });

  test("follows the earlier messages, whether results of tools are remembered or not", async () => {
    const h = await withRoom();
    const json = { toolResultsInHistoryEnabled: false };
    await h.request("/api/instances/support", { method: "PATCH", headers: h.agent.headers, json });
    await h.answer("Hello");
    const turnId = await h.work("The shelf is empty");
    await h.say("Shall I order more?", { turnId });
    await h.say("And paint it?", { turnId });
    await h.isEchoed();
    await h.answer("Yes, do it");
    const both = h.prompt().slice(2, -1);
    expect(h.prompt().slice(0, 2)).toEqual([
      ["user", "Hello"],
      ["assistant", "Re: Hello"],
    ]);
    expect(
      both
        .filter(([role]) => role === "assistant")
        .map(([, text]) => text)
        .toSorted(),
    ).toEqual(["And paint it?", "Shall I order more?"]);
    expect(both.map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    expect((await h.said()).map(([seq]) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await h.conversation()).toMatchObject({ lastSeq: 6, messageCount: 6 });
  });

  test("is one message however many parts it has, and however often its job runs", async () => {
    const h = await withRoom();
    const turnId = await h.work("The shelf is empty");
    const text = paragraphs(9);
    await h.say(text, { turnId });
    await h.isEchoed();
    const rows = await h.rows();
    expect(rows.length).toBeGreaterThan(1);
    const echo = handlerOf(echoJobs(h.services));
    const job = { id: newId(), payload: { turnId, first: 10_000, count: rows.length }, attempt: 2 };
    await Promise.all([1, 2, 3].map(() => echo(job, new AbortController().signal)));
    expect(await h.said()).toEqual([[1, "assistant", text]]);
    expect(await h.conversation()).toMatchObject({ lastSeq: 1, messageCount: 1 });
  });

  test("does not disturb a turn that runs there meanwhile, nor other texts", async () => {
    const gate = Promise.withResolvers<void>();
    const model = scriptedModel(({ prompt }) =>
      JSON.stringify(prompt).includes("Wait") ? { ...reply("Waited."), opens: gate.promise } : reply("Ok."),
    );
    const h = await withRoom({ model });
    const turnId = await h.work("The shelf is empty");
    const running = h.answer("Wait");
    await model.called(2);
    await Promise.all(Array.from({ length: 8 }, (_, index) => h.say(`Text ${index}`, { turnId })));
    await h.isEchoed();
    gate.resolve();
    await running;
    const all = await h.said();
    expect(all.map(([seq]) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(
      all
        .slice(0, 8)
        .map(([, , text]) => text)
        .toSorted(),
    ).toEqual(all.slice(0, 8).map((_, i) => `Text ${i}`));
    expect(all.at(8)).toEqual([9, "user", "Wait"]);
    expect(await h.conversation()).toMatchObject({ lastSeq: 10, messageCount: 10, openTurns: 0 });
  });
});

describe("the reply of a turn elsewhere", () => {
  test("is part of the conversation whose people read it", async () => {
    const h = await withRoom();
    const turnId = await h.work("The shelf is empty", repliesElsewhere(h.place));
    await h.isEchoed();
    expect(await h.said()).toEqual([[1, "assistant", "Re: The shelf is empty"]]);
    expect(await h.transcript()).toMatchObject([{ metadata: { sentBy: { turnId, conversationId: roomRef } } }]);
    await h.allSent();
    expect(h.texts()).toEqual(["Re: The shelf is empty"]);
  });

  test("waits for a decision: words of the agent are part of it, the notice alone is not", () => {
    const place = { agentId: newId(), channel: "telegram", target: adaTarget } as const;
    const kinds = (text: string) => {
      const outcome = { status: "approval", steps: [{ text }] } as unknown as TurnOutcome;
      const { sends, work } = repliesElsewhere(place)(outcome, newId());
      expect(sends).toHaveLength(1);
      return work.map(({ kind }) => kind);
    };
    expect([kinds(""), kinds("I want to order 12.")]).toEqual([["outbox.send"], ["outbox.send", "outbox.echo"]]);
  });

  test("is none where the agent said nothing, or failed", async () => {
    const model = scriptedModel([
      { parts: [...toolCall("c", "currentTime"), finish("tool-calls")] },
      reply(""),
      { fail: new Error("No") },
    ]);
    const h = await withRoom({ model });
    await h.work("One", repliesElsewhere(h.place));
    await h.work("Two", repliesElsewhere(h.place));
    await h.isEchoed();
    expect([await h.said(), await h.rows()]).toEqual([[], []]);
  });
});

test("replies in their own conversation, notices of the engine and words to agents are echoed nowhere", async () => {
  const h = await withRoom();
  await h.addAgent({ slug: "helper" });
  const own = await h.answer("Hello");
  await h.say("In the same chat", { turnId: own });
  await h.say("The agent is off", { turnId: null });
  const turnId = await h.work("The shelf is empty");
  await h.say("Restock", { turnId, channel: "agent", target: "helper" });
  await h.work("The shelf is full", repliesElsewhere({ ...h.place, channel: "agent", target: "helper" }));
  await h.allSent();
  await h.isEchoed();
  expect(await h.said()).toEqual([
    [1, "user", "Hello"],
    [2, "assistant", "Re: Hello"],
  ]);
  const all = await h.db.select().from(messages);
  expect(all.filter((message) => message.turnId === null)).toEqual([]);
});

test("a text for a channel that is off by then becomes part of nothing", async () => {
  const h = await withRoom();
  const turnId = await h.work("The shelf is empty");
  await h.say("Shall I order more?", { turnId });
  await h.db.update(channels).set({ enabled: false }).where(eq(channels.type, "telegram"));
  await h.isEchoed();
  expect(await h.conversation()).toBe(undefined);
});

test("the first message of a person still begins the conversation for hooks", async () => {
  const h = await withRoom();
  const actionConfig = { toolName: "currentTime", args: {} };
  await h.db.insert(hooks).values({ agentId: h.agent.id, event: "conversation_start", actionConfig });
  const turnId = await h.work("The shelf is empty");
  await h.say("Shall I order more?", { turnId });
  await h.isEchoed();
  await h.answer("Yes, do it");
  await h.answer("And paint it");
  expect(await h.db.select().from(hookExecutions)).toMatchObject([{ event: "conversation_start" }]);
});
