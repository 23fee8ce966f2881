import { APICallError } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { Channel } from "../../../src/core/channels/channels.ts";
import { ChatEvent } from "../../../src/features/chat/doors/events.ts";
import { hooksAt } from "../../../src/features/turns/prepare.ts";
import { finish, gate, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { dataLines, eventually, readEvents } from "../chat/chat.ts";
import { asking, hooked, kinds, only, paths, replacing, textOf } from "./hooked.ts";

const saying = (...words: string[]) => scriptedModel(() => reply(...words));

const refusing = () =>
  new APICallError({ message: "no", url: "http://x", requestBodyValues: {}, statusCode: 400, responseBody: "no" });

describe("on the native stream", () => {
  const plain = ["step-start", "text-delta", "text-delta", "step-finish"];
  const held = ["step-start", "step-finish", "text-delta"];

  test.each<[string, Record<string, unknown>[], string[]]>([
    ["none", [], [...plain, "done"]],
    ["conversation_start", [asking("conversation_start", "a")], ["conversation_start true", ...plain, "done"]],
    ["message_received", [asking("message_received", "a")], ["message_received true", ...plain, "done"]],
    ["response_generated", [asking("response_generated", "a")], [...plain, "response_generated true", "done"]],
    ["response_sent", [asking("response_sent", "a")], [...plain, "response_sent true", "done"]],
    ["one that replaces", [replacing()], [...held, "response_generated true", "done"]],
    [
      "one that fails to replace",
      [replacing("replace", { actionConfig: { toolName: "getState", args: { key: 5 } } })],
      [...held, "response_generated false", "done"],
    ],
    [
      "all",
      [
        asking("response_sent", "a"),
        replacing(),
        asking("response_generated", "b"),
        asking("message_received", "c"),
        asking("conversation_start", "d"),
        asking("message_received", "e", { actionConfig: { toolName: "readSkill", args: { skill: "none" } } }),
      ],
      [
        ...["conversation_start true", "message_received true", "message_received false", ...held],
        ...["response_generated true", "response_generated true", "response_sent true", "done"],
      ],
    ],
  ])("the events of %s stand at their places", async (_what, hooks, expected) => {
    const h = await hooked(saying("Hi ", "there."), hooks);
    const events = await readEvents(await h.native("Hello", { chat_id: "c" }));
    expect(kinds(events)).toEqual(expected);
    // As documented, and numbered without gaps.
    for (const event of events) expect(ChatEvent.safeParse(event).error).toBeUndefined();
    const messageId = events.at(-1)?.data.messageId;
    expect(events.map(({ id }) => id)).toEqual(events.map((_event, index) => `${messageId}:${index + 1}`));
  });

  test("an event says which hook, which tool, and how it went, and no more", async () => {
    const waiting = gate();
    const h = await hooked(saying("Hi."), [asking("message_received", "a")], () => waiting.promise.then(() => ({})));
    const response = h.native("Hello", { chat_id: "c" });
    await eventually(async () => h.asked.length === 1);
    await h.clock.advance(40);
    waiting.open();
    const events = await readEvents(await response);
    expect(only(events, "hook-execution")).toEqual({
      hookId: h.ids[0],
      event: "message_received",
      toolName: "httpRequest",
      success: true,
      durationMs: 40,
    });
    expect(events.at(-1)?.data).not.toHaveProperty("metadata");
  });

  test("hooks before the model are reported while the model is silent", async () => {
    const model = scriptedModel([{ opens: new Promise(() => {}) }]);
    const h = await hooked(model, [asking("message_received", "a")]);
    const response = await h.native("Hello", { chat_id: "c" });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let sofar = "";
    while (!sofar.includes("step-start")) sofar += (await reader?.read())?.value ?? "";
    expect(sofar).toMatch(/event: hook-execution[\s\S]*event: step-start/);
    await reader?.cancel();
  });
});

describe("the reply that a hook replaces", () => {
  const deciding = (body: string, status = 200) =>
    hooked(saying("The code ", "is swordfish."), [replacing()], () => ({ body, status }));

  test("is what is streamed, stored and remembered, and nothing else is", async () => {
    const h = await deciding("The code is secret.");
    const events = await readEvents(await h.native("What is it?", { chat_id: "c" }));
    expect(events.filter(({ event }) => event === "text-delta").map(({ data }) => data)).toEqual([
      { text: "The code is secret." },
    ]);
    expect(h.asked.map(({ body }) => body)).toEqual([JSON.stringify({ text: "The code is swordfish." })]);
    const { messages } = await h.stored();
    const last = messages.at(-1);
    expect(last).toMatchObject({ content: "The code is secret.", metadata: { hookId: h.ids[0] } });
    expect(JSON.stringify(messages)).not.toContain("swordfish");
    expect(only(events, "done")).toEqual({
      conversationId: h.ref("c"),
      messageId: last?.id,
      metadata: { hookId: h.ids[0] },
    });
    await h.native("Again?", { chat_id: "c" });
    const call = await h.model.called(2);
    expect(JSON.stringify(call.prompt)).toContain("The code is secret.");
    expect(JSON.stringify(call.prompt)).not.toContain("swordfish");
  });

  test.each<[string, string, number]>([
    ["fails", "no", 500],
    ["has nothing to say", "", 204],
  ])("is the model's own when the service %s", async (_what, body, status) => {
    const h = await deciding(body, status);
    const events = await readEvents(await h.native("What is it?", { chat_id: "c" }));
    expect(textOf(events)).toBe("The code is swordfish.");
    expect(only(events, "done")).not.toHaveProperty("metadata");
    expect((await h.stored()).messages.at(-1)).toMatchObject({ content: "The code is swordfish.", metadata: {} });
  });

  test("may come from a script", async () => {
    const h = await hooked(saying("a loud answer"), []);
    const organization = `/api/organizations/${h.organization.slug}`;
    const content = "export default ({ text }) => text.toUpperCase();";
    const scripts = [{ file: "loud.js", description: "Shouts.", content }];
    const skills = [{ name: "Voice", description: "How to talk.", content: "Loud.", scripts }];
    await h.send("POST", `${organization}/skills/catalog/import`, { skills });
    await h.send("PUT", `${organization}/workspaces/${h.organization.workspaceId}/skills/voice`);
    await h.send("PATCH", `${h.own}/skills`, { enabled: ["voice"] });
    const args = { skill: "voice", file: "loud.js", args: { text: "{{response.text}}" } };
    const hook = { event: "response_generated", mutates: true, actionConfig: { toolName: "runSkillScript", args } };
    await h.send("POST", `${h.own}/hooks`, hook);
    const events = await readEvents(await h.native("Hello", { chat_id: "c" }));
    expect(textOf(events)).toBe("A LOUD ANSWER");
    expect(await h.executions("c")).toMatchObject([{ success: true, result: { result: "A LOUD ANSWER" } }]);
  });

  test("is the same on /v1, in one piece, without a word of hooks", async () => {
    const h = await deciding("Replaced.");
    const whole = (await (await h.complete("Hello")).json()) as { choices: { message: unknown }[] };
    expect(whole.choices[0]?.message).toEqual({ role: "assistant", content: "Replaced." });
    const lines = dataLines(await (await h.complete("Hello", { stream: true })).text());
    expect(lines.at(-1)).toBe("[DONE]");
    const deltas = lines.slice(0, -1).map((line) => JSON.parse(line).choices[0].delta);
    expect(deltas).toEqual([{ role: "assistant", content: "" }, { content: "Replaced." }, {}]);
    expect(lines.join("")).not.toMatch(/swordfish|hook/);
  });

  test("is not there when the provider fails midway: no reader sees half of it", async () => {
    const model = scriptedModel(() => ({ parts: [text("The code is swordf"), new Error("gone")] }));
    const h = await hooked(model, [replacing()]);
    const events = await readEvents(await h.native("What is it?", { chat_id: "c" }));
    expect(kinds(events)).toEqual(["step-start", "error", "done"]);
    const { messages } = await h.stored();
    expect(messages).toMatchObject([
      { role: "user", content: "What is it?" },
      { role: "assistant", content: "", metadata: { error: { code: "provider-failed" } } },
    ]);
    expect(JSON.stringify(messages)).not.toContain("swordf");
    expect(h.asked).toEqual([]);
  });
});

test("/v1 shows nothing of hooks that replace nothing, and streams as without them", async () => {
  const h = await hooked(saying("Hi ", "there."), [
    asking("message_received", "a"),
    asking("response_generated", "b"),
    asking("response_sent", "c"),
  ]);
  const lines = dataLines(await (await h.complete("Hello", { stream: true })).text());
  const deltas = lines.slice(0, -1).map((line) => JSON.parse(line).choices[0].delta);
  expect(deltas).toEqual([{ role: "assistant", content: "" }, { content: "Hi " }, { content: "there." }, {}]);
  expect(lines.join("")).not.toContain("hook");
  expect(paths(h.asked)).toEqual(["a", "b", "c"]);
});

describe("executions", () => {
  test("are stored once, in order, along with the conversation", async () => {
    const h = await hooked(saying("Hi."), [
      asking("response_sent", "sent"),
      asking("conversation_start", "start"),
      asking("message_received", "message", {
        actionConfig: { toolName: "currentTime", args: { timezone: "Mars/X" } },
      }),
    ]);
    for (const words of ["One", "Two"]) await readEvents(await h.native(words, { chat_id: "c" }));
    const stored = await h.executions("c");
    expect(stored.map(({ hookId, event, success }) => [h.ids.indexOf(String(hookId)), event, success])).toEqual([
      [1, "conversation_start", true],
      [2, "message_received", false],
      [0, "response_sent", true],
      [2, "message_received", false],
      [0, "response_sent", true],
    ]);
    expect(stored[0]).toMatchObject({
      toolName: "httpRequest",
      error: null,
      args: { url: "https://hooks.example/start" },
      result: { status: 200, headers: {}, body: "ok" },
    });
    expect(stored[1]).toMatchObject({
      error: "There is no time zone Mars/X: give an IANA name such as Europe/Zurich",
      result: null,
    });
  });

  test("of a turn that failed before its output are not stored, and its conversation has not begun", async () => {
    let fails = true;
    const model = scriptedModel(() => (fails ? { fail: refusing() } : reply("Hi.")));
    const h = await hooked(model, [asking("conversation_start", "start"), asking("response_sent", "sent")]);
    const events = await readEvents(await h.native("Hello", { chat_id: "c" }));
    expect(kinds(events)).toEqual(["conversation_start true", "step-start", "error", "done"]);
    expect(await h.executions("c")).toEqual([]);

    fails = false;
    await readEvents(await h.native("Hello", { chat_id: "c" }));
    await readEvents(await h.native("Hello", { chat_id: "c" }));
    expect(paths(h.asked)).toEqual(["start", "start", "sent", "sent"]);
    expect((await h.executions("c")).map(({ event }) => event)).toEqual([
      ...["conversation_start", "response_sent", "response_sent"],
    ]);
  });

  test("of a turn that failed after its output are", async () => {
    const model = scriptedModel(() => ({ parts: [text("Half"), new Error("gone")] }));
    const h = await hooked(model, [asking("message_received", "a"), asking("response_sent", "b")]);
    await readEvents(await h.native("Hello", { chat_id: "c" }));
    expect((await h.executions("c")).map(({ event }) => event)).toEqual(["message_received"]);
  });

  test("hold no secret of the agent, in whosever words", async () => {
    const secret = "sk-live-0123456789abcdef";
    const args = { url: "https://hooks.example/a", method: "POST", body: "{{message.text}}" };
    const hook = { event: "message_received", actionConfig: { toolName: "httpRequest", args } };
    const h = await hooked(saying("Hi."), [hook], () => ({ body: `You sent ${secret}` }));
    await h.send("PUT", `${h.own}/secrets`, { secrets: [{ key: "mistral_api_key", value: secret }] });
    await readEvents(await h.native(`Mine is ${secret}`, { chat_id: "c" }));
    const [execution] = await h.executions("c");
    expect(execution).toMatchObject({
      success: true,
      args: { body: "Mine is [secret]" },
      result: { body: "You sent [secret]" },
    });
    expect(JSON.stringify(h.model.calls[0]?.prompt)).toContain("You sent [secret]");
  });
});

describe("conversation_start", () => {
  test("runs at the first message of each conversation only, also when two first messages race", async () => {
    const first = gate();
    const model = scriptedModel((_call, index) =>
      index === 0 ? { parts: [first.promise, text("One."), finish()] } : reply("More."),
    );
    const h = await hooked(model, [asking("conversation_start", "start")]);
    const asked = [h.native("A", { chat_id: "c" }), h.native("B", { chat_id: "c" })].map(async (response) =>
      readEvents(await response),
    );
    await eventually(async () => (await h.stored()).turns.length === 2);
    first.open();
    const both = await Promise.all(asked);
    expect(both.flatMap((events) => kinds(events).filter((kind) => kind.includes("start true")))).toHaveLength(1);
    expect(await h.executions("c")).toHaveLength(1);

    await readEvents(await h.native("C", { chat_id: "d" }));
    expect(await h.executions("d")).toHaveLength(1);
    expect(h.asked).toHaveLength(2);
  });

  test("without chat_id it is the request that begins or continues a conversation", async () => {
    const h = await hooked(saying("Hi."), [
      asking("conversation_start", "start"),
      asking("message_received", "message"),
    ]);
    await h.complete("Hello");
    expect(paths(h.asked)).toEqual(["start", "message"]);
    const messages = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi." },
      { role: "user", content: "And now?" },
    ];
    await h.complete("", { messages });
    expect(paths(h.asked)).toEqual(["start", "message", "message"]);
    expect((await h.stored()).conversations).toEqual([]);
  });
});

test("hooks read and write the state, which the turn and later ones see", async () => {
  const setting = (event: string, key: string, value: string) => ({
    event,
    actionConfig: { toolName: "setState", args: { key, value } },
  });
  const h = await hooked(saying("Fine."), [
    setting("message_received", "last", "{{message.text}}"),
    asking("message_received", "", {
      actionConfig: {
        toolName: "httpRequest",
        args: { url: "https://hooks.example/", method: "POST", body: "{{state.last}}/{{state.reply}}" },
      },
    }),
    setting("response_sent", "reply", "{{user.name}}{{response.text}}"),
  ]);
  for (const words of ["One", "Two"]) await readEvents(await h.native(words, { chat_id: "c" }));
  expect(h.asked.map(({ body }) => body)).toEqual(["One/", "Two/Fine."]);
  expect((await h.stored()).conversations[0]?.state).toEqual({ last: "Two", reply: "Fine." });
});

test("the findings of hooks are told to the model, and stay out of the transcript", async () => {
  const h = await hooked(saying("Hi."), [asking("message_received", "who")], () => ({ body: "Ada, gold customer" }));
  await readEvents(await h.native("Hello", { chat_id: "c" }));
  const [call] = h.model.calls;
  expect(JSON.stringify(call?.prompt.at(-2))).toContain("Ada, gold customer");
  expect(call?.prompt.at(-1)).toEqual({ role: "user", content: [{ type: "text", text: "Hello" }] });
  expect(JSON.stringify((await h.stored()).messages)).not.toContain("Ada");
});

test("a hook that takes too long is aborted, and the turn continues", async () => {
  const h = await hooked(
    saying("Hi."),
    [asking("message_received", "a", { timeoutMs: 2_000 })],
    () => new Promise(() => {}),
  );
  const response = h.native("Hello", { chat_id: "c" });
  await eventually(async () => h.asked.length === 1);
  await h.clock.advance(2_000);
  expect(textOf(await readEvents(await response))).toBe("Hi.");
  expect(await h.executions("c")).toMatchObject([
    { success: false, durationMs: 2_000, error: "The tool did not answer within 2 s" },
  ]);
});

test("hooks that are off or deleted do not run from the next turn on", async () => {
  const h = await hooked(saying("Hi."), [replacing("one"), asking("response_sent", "two")]);
  await h.native("A", { chat_id: "c" }).then(readEvents);
  await h.send("PATCH", `${h.own}/hooks/${h.ids[0]}`, { enabled: false });
  expect(textOf(await h.native("B", { chat_id: "c" }).then(readEvents))).toBe("Hi.");
  await h.send("DELETE", `${h.own}/hooks/${h.ids[1]}`);
  await h.native("C", { chat_id: "c" }).then(readEvents);
  expect(paths(h.asked)).toEqual(["one", "two", "two"]);
  // The earlier executions are still there.
  expect(await h.executions("c")).toHaveLength(3);
});

describe("who leaves", () => {
  const points = [
    ["while a hook before the model runs", "before"],
    ["while the model is silent", "model"],
    ["while the reply is replaced", "replace"],
    ["while the last hook runs", "after"],
  ] as const;

  /** Everything waits at one point until the test releases it. */
  async function waitingAt(point: string, hooks: Record<string, unknown>[]) {
    const held = gate();
    const model = scriptedModel([
      { opens: point === "model" ? held.promise : Promise.resolve(), ...reply("The model's.") },
    ]);
    const h = await hooked(model, hooks, async (path) => {
      if (path === point) await held.promise;
      return { body: path === "replace" ? "Replaced." : "ok" };
    });
    const there = () => (point === "model" ? model.called(1) : eventually(async () => paths(h.asked).includes(point)));
    return { ...h, held, there };
  }

  const all = [asking("message_received", "before"), replacing("replace"), asking("response_sent", "after")];

  const doors = ["native", "complete"] as const;

  test.each(
    points.flatMap(([what, point]) => doors.map((door) => [what, door, point] as const)),
  )("%s does not end a turn whose reply is held back (%s)", async (_what, door, point) => {
    const h = await waitingAt(point, all);
    const client = new AbortController();
    const response = h[door]("Hello", { chat_id: "c", stream: true }, { signal: client.signal });
    response.then((answer) => answer.text()).catch(() => {});
    await h.there();
    client.abort();
    h.held.open();

    expect(await h.settled()).toMatchObject([{ status: "done" }]);
    expect((await h.stored()).messages.map(({ content }) => content)).toEqual(["Hello", "Replaced."]);
    expect((await h.executions("c")).map(({ event, success }) => [event, success])).toEqual([
      ["message_received", true],
      ["response_generated", true],
      ["response_sent", true],
    ]);
  });

  test("ends another turn while its first hooks run, before the model hears of it", async () => {
    const h = await waitingAt("before", [asking("message_received", "before")]);
    const client = new AbortController();
    h.native("Hello", { chat_id: "c" }, { signal: client.signal }).then(
      (answer) => answer.text(),
      () => {},
    );
    await h.there();
    client.abort();
    expect(await h.settled()).toMatchObject([{ status: "aborted", errorCode: "disconnect" }]);
    expect(h.model.calls).toEqual([]);
    expect(await h.executions("c")).toEqual([]);
  });

  test("while it still waits for its turn is dropped, whatever its hooks are", async () => {
    const h = await waitingAt("model", [replacing("replace")]);
    const first = h.native("First", { chat_id: "c" }).then(readEvents);
    await h.there();
    const client = new AbortController();
    h.native("Second", { chat_id: "c" }, { signal: client.signal }).then(
      (answer) => answer.text(),
      () => {},
    );
    await eventually(async () => (await h.stored()).turns.some(({ status }) => status === "queued"));
    client.abort();
    expect(await h.settled()).toMatchObject([{ status: "aborted", errorCode: "disconnect" }]);
    h.held.open();
    await first;
    expect((await h.stored()).messages.map(({ content }) => content)).toEqual(["First", "Replaced."]);
  });
});

test("a turn that stops for an approval has its words replaced, and so has the one that goes on", async () => {
  const model = scriptedModel(({ prompt }) => {
    if (prompt.at(-1)?.role === "tool") return reply("It is paid.");
    const call = toolCall("p", "httpRequest", { url: "https://shop.example/pay" });
    return { parts: [...text("I will pay."), ...call, finish("tool-calls")] };
  });
  const hooks = [asking("conversation_start", "start"), asking("message_received", "who"), replacing("replace")];
  const h = await hooked(model, hooks, (path, { body }) =>
    path === "replace" ? { body: `Checked: ${JSON.parse(String(body)).text}` } : { body: `${path} is known` },
  );
  await h.send("PATCH", `${h.own}/tools`, { enabled: ["httpRequest"], needsApproval: ["httpRequest"] });
  const events = await readEvents(await h.native("Pay", { chat_id: "c" }));
  expect(kinds(events)).toEqual([
    ...["conversation_start true", "message_received true", "step-start", "tool-call", "step-finish"],
    ...["text-delta", "response_generated true", "done"],
  ]);
  expect(textOf(events)).toBe("Checked: I will pay.");
  const { metadata } = only(events, "done");
  expect(metadata).toEqual({
    hookId: h.ids[2],
    approval: { toolCallId: expect.any(String), toolCallIds: [expect.any(String)] },
  });
  expect(ChatEvent.safeParse(events.at(-1)).error).toBeUndefined();

  const { toolCallId } = (metadata as { approval: { toolCallId: string } }).approval;
  await h.send("POST", `/api/conversations/${encodeURIComponent(h.ref("c"))}/approvals/${toolCallId}`, {
    approved: true,
  });
  await h.settled(2);
  expect((await h.stored()).messages.map(({ content }) => content)).toEqual([
    ...["Pay", "Checked: I will pay.", "Checked: It is paid."],
  ]);
  expect((await h.executions("c")).map(({ event }) => event)).toEqual([
    ...["conversation_start", "message_received", "response_generated", "response_generated"],
  ]);
  // The model still knows what the hooks told it, though they were not called again.
  expect(JSON.stringify(h.model.calls[1]?.prompt)).toContain("who is known");
  expect(paths(h.asked)).toEqual(["start", "who", "replace", "pay", "replace"]);
});

test("a long result does all that it does to the turn, and is stored shortened, as long arguments are", async () => {
  const long = "long ".repeat(200_000);
  const setting = {
    event: "message_received",
    actionConfig: { toolName: "getState", args: { key: "{{message.text}}" } },
  };
  const h = await hooked(saying("Hi."), [asking("message_received", "who"), setting, replacing()], () => ({
    body: long,
  }));
  await readEvents(await h.native("m".repeat(100_000), { chat_id: "c" }));

  expect((await h.stored()).messages.at(-1)?.content).toBe(long);
  expect(JSON.stringify(h.model.calls[0]?.prompt)).toContain(long.slice(0, 15_000));
  const executions = await h.executions("c");
  expect(executions).toMatchObject([
    { success: true, result: { status: 200, body: expect.stringMatching(/^long .*… \(\d+ more characters\)$/) } },
    { args: { key: expect.stringMatching(/^m{65000,}… \(\d+ more characters\)$/) } },
    { success: true, result: { status: 200, body: expect.stringMatching(/more characters\)$/) } },
  ]);
  for (const { args, result } of executions) expect(JSON.stringify([args, result]).length).toBeLessThan(140_000);
});

test.each<[Channel, boolean]>([
  ["web", true],
  ["telegram", true],
  ["agent", false],
  ["scheduled", false],
  ["room", false],
])("on the channel %s hooks run: %s", (channel, run) => {
  const agent = { hooks: [{ id: "h" }] } as unknown as Parameters<typeof hooksAt>[0];
  const origin = { channel, channelId: "x", source: "user", depth: 0, subject: "web:x" } as const;
  expect(hooksAt(agent, origin)).toHaveLength(run ? 1 : 0);
});
