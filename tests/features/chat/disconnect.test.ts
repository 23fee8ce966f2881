import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import {
  finish,
  gate,
  reasoning,
  reply,
  type ScriptItem,
  scriptedModel,
  text,
  toolCall,
} from "../../scripted-model.ts";
import { type ChatHarness, chatHarness, eventually } from "./chat.ts";

/** A request over a real socket, which the test can cut. */
async function connect(h: ChatHarness, door: "completions" | "native", extra: object = {}) {
  const url = await h.listen();
  const path = door === "native" ? `/api/instances/${h.agent.slug}/chat/stream` : "/v1/chat/completions";
  const socket = httpRequest(url + path, {
    method: "POST",
    headers: { Authorization: `Bearer ${h.agent.key}`, "Content-Type": "application/json" },
  });
  socket.on("error", () => {});
  socket.on("response", (response) => response.resume());
  socket.end(
    JSON.stringify({ model: h.agent.slug, chat_id: "c", messages: [{ role: "user", content: "Hi" }], ...extra }),
  );
  return { cut: () => socket.destroy() };
}

/** Enough time for a loopback socket to deliver all sent bytes. */
const moments = () => new Promise((resolve) => setTimeout(resolve, 20));

const settled = (h: ChatHarness) =>
  eventually(async () => {
    const [turn] = (await h.stored()).turns;
    return turn && turn.status !== "running" ? turn : null;
  });

const doors = [
  ["completions", { stream: true }],
  ["completions", {}],
  ["native", {}],
] as const;

test.each(
  doors,
)("a client of %s %o that leaves before any output cancels the turn, which is not stored", async (door, extra) => {
  const never = new Promise(() => {});
  const model = scriptedModel([{ parts: [never] }]);
  const h = await chatHarness(model);
  const { cut } = await connect(h, door, extra);
  const call = await model.called(1);
  cut();

  expect(await settled(h)).toMatchObject({ status: "aborted", errorCode: "disconnect" });
  expect(call.options.abortSignal?.aborted).toBe(true);
  const { messages, conversations } = await h.stored();
  expect(messages).toEqual([]);
  expect(conversations).toMatchObject([{ openTurns: 0, messageCount: 0 }]);
});

const outputs: [string, ScriptItem][] = [
  ["text", text("some ")],
  ["the beginning of reasoning", reasoning().slice(0, 1)],
  ["the beginning of a tool call", { type: "tool-input-start", id: "c", toolName: "nope" }],
];

test.each(
  outputs.flatMap(([what, item]) => doors.map(([door, extra]) => [what, item, door, extra] as const)),
)("after %s (%#) the turn runs to its end and is stored", async (_what, item, door, extra) => {
  const held = gate();
  const model = scriptedModel([{ parts: [item, held.promise, text("rest"), finish()] }]);
  const h = await chatHarness(model);
  const { cut } = await connect(h, door, extra);
  await model.called(1);
  await moments();
  cut();
  await moments();
  await new Promise((resolve) => setTimeout(resolve, 20));
  held.open();

  expect(await settled(h)).toMatchObject({ status: "done" });
  expect((await h.stored()).messages.at(-1)).toMatchObject({
    role: "assistant",
    content: expect.stringMatching(/rest$/),
  });
});

test("the tools of a turn whose client left still run", async () => {
  const held = gate();
  const model = scriptedModel([{ parts: [toolCall("c", "nope"), held.promise, finish("tool-calls")] }, reply("after")]);
  const h = await chatHarness(model);
  const { cut } = await connect(h, "native");
  await model.called(1);
  await moments();
  cut();
  await moments();
  held.open();
  expect(await settled(h)).toMatchObject({ status: "done" });
  expect((await h.stored()).messages.at(-1)).toMatchObject({ content: "after" });
});
