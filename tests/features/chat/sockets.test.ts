import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { plainText } from "../../plain-text.ts";
import {
  finish,
  gate,
  reasoning,
  reply,
  type ScriptStep,
  scriptedModel,
  text,
  toolCall,
} from "../../scripted-model.ts";
import { asking, hooked, replacing } from "../hooks/hooked.ts";
import { eventually } from "./chat.ts";

type Hooked = Awaited<ReturnType<typeof hooked>>;

const doors = {
  "/v1, streamed": { path: () => "/v1/chat/completions", extra: { stream: true } },
  "/v1, whole": { path: () => "/v1/chat/completions", extra: {} },
  native: { path: (slug: string) => `/api/instances/${slug}/chat/stream`, extra: {} },
};
type Door = keyof typeof doors;

/** A gate at which the turn waits; `reached` resolves when the turn arrives. */
function turnstile() {
  const { promise, open } = gate();
  const reached = gate();
  const come = () => {
    reached.open();
    return promise;
  };
  return { promise, open, come, reached: reached.promise };
}
type Turnstile = ReturnType<typeof turnstile>;

/** A moment of a turn at which the client's connection breaks. */
interface Point {
  ends: "dropped" | "stored";
  /** The model's script; one of its calls may wait at the turnstile. */
  steps?: (at: Turnstile) => ScriptStep[];
  /** The number of the model call that waits at the turnstile; 1 by default. */
  call?: number;
  hooks?: Parameters<typeof hooked>[1];
  /** The path at which a service, called by a tool or a hook, waits at the turnstile. */
  asked?: string;
  /** Whether another turn of the conversation runs and waits at the turnstile. */
  behind?: true;
  /** Whether OPEN waits at the turnstile. */
  opening?: true;
  content?: string;
}

const lookUp = toolCall("c", "httpRequest", { url: "https://hooks.example/tool" });
const called = [{ parts: [...lookUp, finish("tool-calls")] }, reply("found")];

const points: Record<string, Point> = {
  "while its place is asked for": { ends: "dropped", opening: true },
  "before the model answers at all": { ends: "dropped", steps: (at) => [{ opens: at.promise, parts: [] }] },
  "before the model says anything": {
    ends: "dropped",
    steps: (at) => [{ parts: [at.promise, text("late"), finish()] }],
  },
  "after a delta without text": {
    ends: "dropped",
    steps: (at) => [{ parts: [text("").slice(0, 2), at.promise, text("late"), finish()] }],
  },
  "during a hook before the model": { ends: "dropped", hooks: [asking("message_received", "before")], asked: "before" },
  "while it waits in line": { ends: "dropped", behind: true },
  "while it waits in line, buffered": { ends: "dropped", behind: true, hooks: [replacing("free")] },
  "after reasoning": {
    ends: "stored",
    steps: (at) => [{ parts: [reasoning("hm").slice(0, 2), at.promise, text("rest"), finish()] }],
    content: "rest",
  },
  "after text": {
    ends: "stored",
    steps: (at) => [{ parts: [text("some "), at.promise, text("rest"), finish()] }],
    content: "some rest",
  },
  "after the beginning of a tool call": {
    ends: "stored",
    steps: (at) => [{ parts: [lookUp.slice(0, 1), at.promise, lookUp.slice(1), finish("tool-calls")] }, reply("found")],
    content: "found",
  },
  "during a tool": { ends: "stored", steps: () => called, asked: "tool", content: "found" },
  "between two steps": {
    ends: "stored",
    steps: (at) => [{ parts: [lookUp, finish("tool-calls")] }, { parts: [at.promise, text("found"), finish()] }],
    call: 2,
    content: "found",
  },
  "during a hook after the reply": {
    ends: "stored",
    hooks: [asking("response_generated", "after"), asking("response_sent", "sent")],
    asked: "after",
    content: "Hi.",
  },
  "during a hook after the sending": {
    ends: "stored",
    hooks: [asking("response_sent", "sent")],
    asked: "sent",
    content: "Hi.",
  },
  "before the model says anything, buffered": {
    ends: "stored",
    hooks: [replacing()],
    steps: (at) => [{ parts: [at.promise, text("late"), finish()] }],
    content: "replaced",
  },
  "after text, buffered": {
    ends: "stored",
    hooks: [replacing()],
    steps: (at) => [{ parts: [text("some "), at.promise, text("rest"), finish()] }],
    content: "replaced",
  },
  "during the hook of a buffered reply": {
    ends: "stored",
    hooks: [replacing()],
    asked: "replace",
    content: "replaced",
  },
};

async function prepare({ steps, hooks = [], asked, opening, behind }: Point) {
  const at = turnstile();
  const script = steps?.(at) ?? (behind ? [{ parts: [text("first"), at.promise, finish()] }] : []);
  const model = scriptedModel((_call, index) => script[index] ?? reply("Hi."));
  const answered = async (path: string) => {
    if (path === asked) await at.come();
    return { body: path === "replace" ? "replaced" : "ok" };
  };
  const h = await hooked(model, hooks, answered);
  await h.send("PATCH", `${h.own}/tools`, { enabled: ["httpRequest"] });
  if (opening) holdOpening(h, at);
  return { h, model, at };
}

function holdOpening({ services: { database } }: Hooked, at: Turnstile): void {
  const { query } = database;
  database.query = async (sql, parameters) => {
    if (plainText(sql).includes("insert into turns")) await at.come();
    return query(sql, parameters) as never;
  };
}

/** A request over its own socket; `cut` resolves when the server has noticed the disconnect. */
async function connect(h: Hooked, door: Door) {
  const { path, extra } = doors[door];
  const url = await h.listen();
  const noticed = gate();
  const { fetch } = h.engine.app;
  h.engine.app.fetch = (request, ...rest) => {
    request.signal.addEventListener("abort", noticed.open);
    return fetch(request, ...rest);
  };
  const headers = { Authorization: `Bearer ${h.agent.key}`, "Content-Type": "application/json" };
  const socket = httpRequest(url + path(h.agent.slug), { method: "POST", headers, agent: false });
  socket.on("error", () => {});
  socket.on("response", (response) => response.on("error", () => {}).resume());
  const messages = [{ role: "user", content: "Hello" }];
  socket.end(JSON.stringify({ model: h.agent.slug, chat_id: "c", messages, ...extra }));
  return {
    async cut() {
      socket.destroy();
      await noticed.promise;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const turnsOf = async (h: Hooked, ...statuses: string[]) =>
  (await h.stored()).turns.filter(({ status }) => statuses.includes(status));

const cases = Object.keys(points).flatMap((name, index): [string, Door][] => [
  [name, "native"],
  [name, index % 2 === 0 ? "/v1, streamed" : "/v1, whole"],
]);

describe("a connection that breaks", () => {
  test.each(cases)("%s: %s", async (name, door) => {
    const point = points[name] ?? { ends: "stored" };
    const { h, model, at } = await prepare(point);
    const first = point.behind ? h.native("First", { chat_id: "c" }) : null;
    if (first) await model.called(1);
    const { cut } = await connect(h, door);
    if (first) await eventually(async () => (await turnsOf(h, "queued")).length === 1);
    else await (point.asked || point.opening ? at.reached : model.called(point.call ?? 1));
    // After this, the turn has read all that the model sent.
    await new Promise((resolve) => setImmediate(resolve));
    await cut();
    if (point.ends === "stored" || point.opening) at.open();
    await eventually(async () => (await turnsOf(h, "done", "aborted")).length === 1);
    if (point.ends === "stored") await expectStored(h, model, point);
    else await expectDropped(h, model, { others: first ? 1 : 0 });
    at.open();
    if (first) expect(await (await first).text()).toContain("event: done");
    const { conversations } = await h.stored();
    expect(conversations).toMatchObject([{ openTurns: 0, messageCount: first || point.ends === "stored" ? 2 : 0 }]);
  });
});

type Model = ReturnType<typeof scriptedModel>;

async function expectStored(h: Hooked, model: Model, { content, hooks = [] }: Point) {
  const { turns, messages } = await h.stored();
  expect(turns).toMatchObject([{ status: "done", errorCode: null }]);
  expect(messages).toMatchObject([
    { seq: 1, role: "user", content: "Hello" },
    { seq: 2, role: "assistant", content },
  ]);
  for (const { options, cancelled } of model.calls)
    expect([options.abortSignal?.aborted, cancelled]).toEqual([false, false]);
  const executions = await h.executions("c");
  expect(executions).toHaveLength(hooks.length);
  expect(executions.every(({ success }) => success)).toBe(true);
}

/** Expects that the turn left nothing; `others` is the number of model calls by other turns. */
async function expectDropped(h: Hooked, model: Model, { others }: { others: number }) {
  expect(await turnsOf(h, "aborted")).toMatchObject([{ errorCode: "disconnect", promptTokens: 0 }]);
  expect((await h.stored()).messages).toEqual([]);
  expect(await h.executions("c").catch(() => [])).toEqual([]);
  for (const { options } of model.calls.slice(others)) expect(options.abortSignal?.aborted).toBe(true);
}
