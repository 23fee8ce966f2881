import { desc, eq, like } from "drizzle-orm";
import { newId } from "../../../src/core/ids.ts";
import { localNotify } from "../../../src/core/notify.ts";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import type { ModelSpec, Notify } from "../../../src/core/ports.ts";
import { conversations, messages, turns } from "../../../src/db/schema.ts";
import { createEngine, type Engine } from "../../../src/engine.ts";
import { reply, type ScriptedCall, scriptedModel } from "../../scripted-model.ts";
import { askOnce, heard } from "./asking.ts";
import { chatHarness } from "./chat.ts";

/** The origin of the calling page, if a call has one. */
export const page = "https://shop.example";

/** What the model says in every reply; both may become secrets. */
export const said = ["tea-secret-1", "tea-secret-2"] as const;

/** The variable parts of a call. */
export interface Asked {
  /** Null: no header. */
  key: string | null;
  chatId: string;
  /** Further fields of the body. */
  extra: object;
}

/** The caller's view of a call, and its effects. */
export interface Seen {
  /** "ok", or why there is no reply. */
  verdict: string;
  /** The origin whose pages may read the answer. */
  cors: string | null;
  /** The answer's text. */
  text: string;
  /** The call of the agent's model; null when there was none. */
  model: (ScriptedCall & { spec: ModelSpec; system: string }) | null;
  /** The number of requests that tools and hooks sent. */
  fetched: number;
  /** The stored parts of the conversation: its state, and its newest turn's debug data. */
  stored(): Promise<{ state: unknown; debug: unknown } | undefined>;
}

export type World = Awaited<ReturnType<typeof world>>;

/** A replica, with the id of a turn that it took at the native door; empty for none. */
export interface Replica {
  engine: Engine;
  turnId: string;
}

/** The agent `helper`, any number of replicas, and, where one asks it, the agent `caller`. */
export async function world({ asks = false } = {}) {
  const specs: ModelSpec[] = [];
  const models = { caller: scriptedModel(askOnce), helper: scriptedModel(() => reply(`It is ${said.join(" or ")}.`)) };
  const resolve = async (spec: ModelSpec) => {
    if (spec.model === "caller") return models.caller;
    specs.push(spec);
    return models.helper;
  };
  let fetched = 0;
  const egress = {
    request: async ({ url }: { url: string }) => {
      fetched += 1;
      return { status: 200, headers: {}, body: "fetched", url };
    },
  };
  const h = await chatHarness(undefined, { slug: "helper", model: "first" }, { models: { resolve }, egress });
  const { headers, key } = h.agent;
  /** A request of the owner, to the first replica. */
  const send = async (method: string, path: string, json?: object) => {
    const answer = await h.request(path, { method, headers, ...(json ? { json } : {}) });
    if (!answer.ok) throw new Error(`${method} ${path} got ${answer.status}: ${await answer.text()}`);
  };
  const caller = asks ? await h.anotherAgent({ slug: "caller", model: "caller" }) : { key: "" };
  if (asks) await send("PATCH", "/api/instances/caller/tools", { enabled: ["agent:helper"] });
  const person = await h.as("viewer");

  let calls = 0;
  const request = ({ engine }: Pick<Replica, "engine">, path: string, init: RequestInit, json?: object) => {
    calls += 1;
    const sent = new Headers(init.headers);
    // From an address of its own, so that the throttle doesn't interfere.
    sent.set("X-Forwarded-For", `198.51.${Math.floor(calls / 250)}.${calls % 250}`);
    if (json) sent.set("Content-Type", "application/json");
    const body = json ? { body: JSON.stringify(json) } : {};
    return engine.app.request(path, { ...init, ...body, headers: sent }, { remoteAddress: "192.0.2.1" });
  };

  const storedOf = async (chatId: string) => {
    const [stored] = await h.services.database.db
      .select({ state: conversations.state, debug: turns.debug })
      .from(conversations)
      .leftJoin(messages, eq(messages.conversationId, conversations.id))
      .leftJoin(turns, eq(turns.id, messages.turnId))
      .where(like(conversations.ref, `helper:%${chatId}`))
      .orderBy(desc(messages.seq));
    return stored;
  };

  const look = async (at: Replica, door: DoorName, asked: Asked): Promise<Seen> => {
    const before = { calls: models.helper.calls.length, fetched };
    const answer = await doors[door]({ at, request, person, caller: caller.key }, asked);
    const text = await answer.text();
    const call = models.helper.calls[before.calls];
    const spec = specs.at(-1);
    const system = call?.prompt[0]?.role === "system" ? call.prompt[0].content : "";
    return {
      verdict: door === "asked" ? answered(heard(models.caller)[0]) : verdictOf(answer, text),
      cors: answer.headers.get("Access-Control-Allow-Origin"),
      text,
      model: call && spec ? { ...call, spec, system } : null,
      fetched: fetched - before.fetched,
      stored: () => storedOf(asked.chatId),
    };
  };

  /** Takes a native turn, which can be resumed and stopped there. */
  const takeTurn = async (engine: Engine): Promise<string> => {
    const asked = { key, chatId: newId(), extra: {} };
    const answer = await doors.native({ at: { engine, turnId: "" }, request, person, caller: caller.key }, asked);
    return /^id: ([0-9a-f-]{36}):1$/m.exec(await answer.text())?.[1] ?? "";
  };
  const { services } = h;
  const another = (notify: Notify) => createEngine({ ...services, notify, policies: new CurrentPolicies() });
  const join = async (engine: Engine): Promise<Replica> => ({ engine, turnId: await takeTurn(engine) });
  return {
    ...h,
    send,
    look,
    models,
    specs,
    here: () => join(h.engine),
    hearing: () => join(another(services.notify)),
    /** A replica that no message reaches; with a turn for doors that need one. */
    async deaf(door: DoorName): Promise<Replica> {
      const engine = another(localNotify(services.log));
      return door === "resume" || door === "stop" ? join(engine) : { engine, turnId: "" };
    },
  };
}

interface Client {
  at: Replica;
  request: (at: Replica, path: string, init: RequestInit, json?: object) => Promise<Response> | Response;
  person: Record<string, string>;
  caller: string;
}

type Door = (client: Client, asked: Asked) => Promise<Response> | Response;

export type DoorName = keyof typeof doors;

const bearer = (key: string | null): Record<string, string> => (key === null ? {} : { Authorization: `Bearer ${key}` });
const bodyOf = ({ chatId, extra }: Asked) => ({
  messages: [{ role: "user", content: "Hi" }],
  chat_id: chatId,
  ...extra,
});

const completion =
  (stream: boolean, more: Record<string, string> = {}): Door =>
  ({ at, request }, asked) => {
    const json = { model: "helper", stream, stream_options: { include_usage: true }, ...bodyOf(asked) };
    const headers = { Origin: page, ...bearer(asked.key), ...more };
    return request(at, "/v1/chat/completions", { method: "POST", headers }, json);
  };

const native =
  (more: Record<string, string> = {}): Door =>
  ({ at, request }, asked) => {
    const headers = { Origin: page, ...bearer(asked.key), ...more };
    return request(at, "/api/instances/helper/chat/stream", { method: "POST", headers }, bodyOf(asked));
  };

const ofTurn =
  (method: string): Door =>
  ({ at, request }, { key }) =>
    request(at, `/api/instances/helper/chat/stream/${at.turnId}`, {
      method,
      headers: { Origin: page, ...bearer(key) },
    });

const repeated = { "Idempotency-Key": "the-same" };
const repeatedCompletion = completion(true, repeated);
const repeatedNative = native(repeated);
const anotherBody = (asked: Asked): Asked => ({ ...asked, extra: { ...asked.extra, user: newId() } });

const doors = {
  completion: completion(false),
  "streamed completion": completion(true),
  native: native(),
  playground: ({ at, request, person }, asked) =>
    request(at, "/api/instances/helper/playground/stream", { method: "POST", headers: person }, bodyOf(asked)),
  /** Of the caller's native turn, whose model asks the helper. */
  asked: ({ at, request, caller }, asked) =>
    request(
      at,
      "/api/instances/caller/chat/stream",
      { method: "POST", headers: bearer(caller) },
      { ...bodyOf(asked), context: undefined },
    ),
  "repeated completion": repeatedCompletion,
  "repeated native": repeatedNative,
  "completion with a taken key": (client, asked) => repeatedCompletion(client, anotherBody(asked)),
  "native with a taken key": (client, asked) => repeatedNative(client, anotherBody(asked)),
  resume: ofTurn("GET"),
  stop: ofTurn("DELETE"),
  preflight: ({ at, request }) =>
    request(at, "/api/instances/helper/chat/stream", {
      method: "OPTIONS",
      headers: { Origin: page, "Access-Control-Request-Method": "POST" },
    }),
  models: ({ at, request }, { key }) => request(at, "/v1/models", { headers: bearer(key) }),
} satisfies Record<string, Door>;

/** "ok" of a call that was answered, and of a list that has the agent; else the message of the refusal. */
function verdictOf({ ok, headers }: Response, text: string): string {
  if (!ok) return JSON.parse(text).message;
  if (text.startsWith('{"object":"list"')) return text.includes('"helper"') ? "ok" : "not listed";
  if (!headers.get("Content-Type")?.startsWith("text/event-stream")) return "ok";
  const error = /^event: error\ndata: (.*)$/m.exec(text)?.[1];
  return error === undefined ? "ok" : JSON.parse(error).message;
}

const answered = (result: unknown): string =>
  typeof result === "object" && result !== null && "reply" in result ? "ok" : String(result);
