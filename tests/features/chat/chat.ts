import { asc } from "drizzle-orm";
import { conversations, messages, turns } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import type { ScriptedModel } from "../../scripted-model.ts";

type Agent = Awaited<ReturnType<Harness["agent"]>>;

interface Asked {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export type ChatHarness = Awaited<ReturnType<typeof chatHarness>>;

/** An agent with a scripted model, and calls of both chat endpoints. */
export async function chatHarness(
  model: ScriptedModel | undefined,
  fields: Record<string, unknown> = {},
  options: Parameters<typeof harness>[0] = {},
) {
  const h = await harness({ trustProxy: 1, ...(model ? { model } : {}), ...options });
  const agent = await h.agent(fields);
  let calls = 0;

  const post = (path: string, json: unknown, { headers, signal }: Asked = {}) => {
    calls += 1;
    // Each call has its own address, so that the throttle does not refuse it.
    const given = { Authorization: `Bearer ${agent.key}`, "X-Forwarded-For": `198.51.100.${calls % 250}`, ...headers };
    return h.request(path, { method: "POST", headers: given, json, ...(signal ? { signal } : {}) });
  };
  const body = (content: unknown, extra: object) => ({ messages: [{ role: "user", content }], ...extra });

  return {
    ...h,
    agent: agent as Agent,
    anotherAgent: h.agent,
    post,
    complete: (content: unknown, extra: object = {}, asked?: Asked) =>
      post("/v1/chat/completions", { model: agent.slug, ...body(content, extra) }, asked),
    native: (content: unknown, extra: object = {}, asked?: Asked) =>
      post(`/api/instances/${agent.slug}/chat/stream`, body(content, extra), asked),
    stored: async () => {
      const { db } = h.services.database;
      return {
        conversations: await db.select().from(conversations),
        messages: await db.select().from(messages).orderBy(asc(messages.seq)),
        turns: await db.select().from(turns).orderBy(asc(turns.createdAt), asc(turns.id)),
      };
    },
  };
}

export interface SseEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/** The typed events of a native stream; comments are left out. */
export async function readEvents(response: Response): Promise<SseEvent[]> {
  const blocks = (await response.text()).split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => {
    const field = (name: string) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2) ?? "";
    return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
  });
}

/** The `data:` lines of a completion stream. */
export function dataLines(body: string): string[] {
  return body
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice(6));
}

/** Reads from a stream until its text so far satisfies `enough`. */
export async function readUntil(response: Response, enough: (text: string) => boolean) {
  const reader = response.body?.getReader();
  if (!reader) throw new Error("The response has no body");
  const decoder = new TextDecoder();
  let text = "";
  while (!enough(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  return { text, reader };
}

/** Polls `look` in real time until it gives a value; throws after 45 s. */
export async function eventually<T>(look: () => Promise<T | null | undefined | false>): Promise<T> {
  const end = performance.now() + 45_000;
  while (performance.now() < end) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("It did not happen");
}
