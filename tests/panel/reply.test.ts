import { describe, expect, test } from "vitest";
import type { ChatEvent, Message } from "../../src/client/index.ts";
import { applyEvent, entriesOf, entryOf, newReply, type Reply, wordsOf } from "../../src/panel/transcript/reply.ts";

const replyOf = (...events: ChatEvent[]): Reply => events.reduce(applyEvent, newReply);
const at = (n: number) => `m1:${n}`;

describe("a reply as it comes in", () => {
  test("joins the pieces of a text, and keeps reasoning, calls and text in their order", () => {
    const reply = replyOf(
      { id: at(1), event: "step-start", data: { index: 0, stepType: "initial" } },
      { id: at(2), event: "reasoning-delta", data: { text: "Let me " } },
      { id: at(3), event: "reasoning-delta", data: { text: "see." } },
      { id: at(4), event: "tool-call", data: { id: "c1", name: "currentTime", args: {} } },
      { id: at(5), event: "tool-result", data: { id: "c1", result: { time: "12:00" } } },
      { id: at(6), event: "text-delta", data: { text: "It is " } },
      { id: at(7), event: "text-delta", data: { text: "noon." } },
      { id: at(8), event: "done", data: { conversationId: "c", messageId: "m1" } },
    );
    expect(reply.parts).toEqual([
      { type: "reasoning", text: "Let me see." },
      { type: "tool", id: "c1", name: "currentTime", args: {}, result: { time: "12:00" }, ended: true },
      { type: "text", text: "It is noon." },
    ]);
    expect(reply).toMatchObject({ messageId: "m1", lastEventId: "m1:8", state: "done", error: null });
    expect(wordsOf(reply)).toBe("It is noon.");
  });

  test("a stored reply, whose events have no ids, is identified by its end", () => {
    const reply = replyOf(
      { id: "", event: "text-delta", data: { text: "Hello." } },
      { id: "", event: "done", data: { conversationId: "c", messageId: "m7" } },
    );
    expect(reply).toMatchObject({ messageId: "m7", lastEventId: null, state: "done" });
  });

  test("a call that waits for a person is shown in order once it is made", () => {
    const waiting = replyOf(
      { id: at(1), event: "tool-call", data: { id: "c1", name: "httpRequest", args: { url: "https://a.example" } } },
      {
        id: at(2),
        event: "done",
        data: {
          conversationId: "c",
          messageId: "m1",
          metadata: { approval: { toolCallId: "c1", toolCallIds: ["c1"] } },
        },
      },
    );
    expect(waiting).toMatchObject({ state: "approval", waiting: ["c1"] });
    const made = [
      { id: at(3), event: "tool-call", data: { id: "c1", name: "httpRequest", args: { url: "https://a.example" } } },
      { id: at(4), event: "tool-result", data: { id: "c1", result: { status: 200 } } },
    ] satisfies ChatEvent[];
    expect(made.reduce<Reply>(applyEvent, waiting).parts).toEqual([
      expect.objectContaining({ id: "c1", ended: true, result: { status: 200 } }),
    ]);
  });

  test("a failure keeps what came before it", () => {
    const reply = replyOf(
      { id: at(1), event: "text-delta", data: { text: "Half" } },
      { id: at(2), event: "error", data: { message: "The provider refused the key" } },
      { id: at(3), event: "done", data: { conversationId: "c", messageId: "m1" } },
    );
    expect(reply).toMatchObject({ error: "The provider refused the key", state: "done" });
    expect(wordsOf(reply)).toBe("Half");
  });

  test("a refusal has no turn", () => {
    const reply = replyOf({ id: "", event: "error", data: { message: "No" } });
    expect(reply).toMatchObject({ messageId: null, lastEventId: null, error: "No" });
  });
});

describe("a stored message", () => {
  const message: Message = {
    id: "m1",
    role: "assistant",
    content: "Sent.",
    reasoning: null,
    attachments: [],
    metadata: {},
    promptTokens: 1,
    completionTokens: 1,
    createdAt: "2026-11-23T10:00:00.000Z",
    steps: [
      {
        index: 0,
        stepType: "initial",
        text: "",
        reasoning: "Hm.",
        finishReason: "tool-calls",
        durationMs: 5,
        toolCalls: [{ toolCallId: "c1", toolName: "send", args: { to: "Ada" } }],
        toolResults: [{ toolCallId: "c1", result: "ok" }],
      },
      {
        index: 1,
        stepType: "tool-result",
        text: "Sent.",
        reasoning: "",
        finishReason: "stop",
        durationMs: 5,
        toolCalls: [],
        toolResults: [],
      },
    ],
  };

  test("shows what a live one showed", () => {
    const entry = entryOf(message, "c");
    expect(entry).toMatchObject({ messageId: "m1", state: "done", waiting: [], error: null, at: message.createdAt });
    const sentBy = { turnId: "t", conversationId: "room:support:1" };
    expect(entryOf({ ...message, metadata: { sentBy } }, "c")).toMatchObject({ sentFrom: "room:support:1" });
    expect(entry).toMatchObject({ sentFrom: null });
    expect((entry as Reply).parts).toEqual([
      { type: "reasoning", text: "Hm." },
      { type: "tool", id: "c1", name: "send", args: { to: "Ada" }, result: "ok", ended: true },
      { type: "text", text: "Sent." },
    ]);
  });

  test("a call waits only while nothing follows it, and is shown where it was made", () => {
    const [asked, answer] = message.steps;
    if (!asked || !answer) throw new Error("A message of two steps is meant");
    const waiting: Message = {
      ...message,
      content: "",
      steps: [{ ...asked, reasoning: "", toolResults: [] }],
      metadata: { approval: { toolCallId: "c1", toolCallIds: ["c1"] } },
    };
    expect(entriesOf([waiting], "c", true)).toMatchObject([{ waiting: ["c1"], state: "approval" }]);
    expect(entriesOf([waiting], "c", false)).toMatchObject([{ waiting: [] }]);
    const decided = entriesOf([waiting, { ...message, id: "m2" }], "c", true);
    expect(decided).toHaveLength(1);
    expect(decided).toMatchObject([{ messageId: "m2", waiting: [] }]);
    const refused = entriesOf([waiting, { ...message, id: "m2", steps: [answer] }], "c", true);
    expect(refused).toMatchObject([{ waiting: [] }, { messageId: "m2" }]);
  });

  test.each([
    [{ stopped: "asked" }, { state: "stopped" }],
    [{ error: { code: "timeout", message: "Too late" } }, { error: "Too late" }],
    [{ approval: { toolCallId: "c2", toolCallIds: ["c2", "c3"] } }, { state: "approval", waiting: ["c2", "c3"] }],
  ])("with metadata %j", (metadata, expected) => {
    expect(entryOf({ ...message, metadata }, "c")).toMatchObject(expected);
  });
});
