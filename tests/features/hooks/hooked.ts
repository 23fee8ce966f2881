import { expect } from "vitest";
import type { EgressRequest } from "../../../src/core/ports.ts";
import type { ScriptedModel } from "../../scripted-model.ts";
import { chatHarness, eventually, type SseEvent } from "../chat/chat.ts";

type Json = Record<string, unknown>;
type Answer = { status?: number; body?: string };

/** A hook that calls a service, whose answer the test gives. */
export const asking = (event: string, path: string, more: Json = {}): Json => ({
  event,
  actionConfig: { toolName: "httpRequest", args: { url: `https://hooks.example/${path}` } },
  ...more,
});

/** A hook whose service answers with another reply. */
export const replacing = (path = "replace", more: Json = {}): Json => ({
  event: "response_generated",
  mutates: true,
  actionConfig: {
    toolName: "httpRequest",
    args: { url: `https://hooks.example/${path}`, method: "POST", body: { text: "{{response.text}}" } },
  },
  ...more,
});

/** An agent with these hooks. `answer` gives what their service answers to a path, "ok" by default. */
export async function hooked(
  model: ScriptedModel,
  hooks: readonly Json[],
  answer: (path: string, request: EgressRequest) => Answer | Promise<Answer> = () => ({}),
) {
  const asked: EgressRequest[] = [];
  const egress = {
    request: async (request: EgressRequest) => {
      asked.push(request);
      const { status = 200, body = "ok" } = await answer(new URL(request.url).pathname.slice(1), request);
      return { status, headers: {}, body, url: request.url };
    },
  };
  const h = await chatHarness(model, {}, { egress });
  const { agent } = h;
  const send = async (method: string, path: string, json?: object) => {
    const headers = agent.headers;
    const response = await h.request(path, { method, headers, ...(json ? { json } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Json;
  };
  const own = `/api/instances/${agent.slug}`;
  const ids: string[] = [];
  for (const hook of hooks) {
    const made = (await send("POST", `${own}/hooks`, hook)) as { hook: { id: string } };
    ids.push(made.hook.id);
  }
  const ref = (chatId: string) => `${agent.slug}:web:api-${chatId}`;
  /** The executions in a conversation, oldest first. */
  const executions = async (chatId: string) => {
    const path = `/api/conversations/${encodeURIComponent(ref(chatId))}/hooks`;
    return (await send("GET", path)).executions as Json[];
  };
  const settled = (count = 1) =>
    eventually(async () => {
      const { turns } = await h.stored();
      const over = turns.filter(({ status }) => status !== "running" && status !== "queued");
      return over.length >= count && over;
    });
  return { ...h, model, asked, send, own, ids, ref, executions, settled };
}

/** The kinds of events in order; of a hook its event and its success. */
export function kinds(events: readonly SseEvent[]): string[] {
  return events.map(({ event, data }) => (event === "hook-execution" ? `${data.event} ${data.success}` : event));
}

export function textOf(events: readonly SseEvent[]): string {
  return events.flatMap(({ event, data }) => (event === "text-delta" ? [String(data.text)] : [])).join("");
}

export const paths = (asked: readonly EgressRequest[]) => asked.map(({ url }) => new URL(url).pathname.slice(1));

/** The one event of a kind. */
export function only(events: readonly SseEvent[], kind: string): Json {
  const found = events.filter(({ event }) => event === kind);
  expect(found).toHaveLength(1);
  return found[0]?.data ?? {};
}
