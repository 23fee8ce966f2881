import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { EngineError } from "../../../core/errors.ts";
import { digest, toHex } from "../../../core/ids.ts";
import { parseJson } from "../../../core/json.ts";
import { agentSlugPattern } from "../../../core/text/names.ts";
import { holdBody, limitBody, maxBodyBytes } from "../../../http/body.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { invalid } from "../../../http/errors.ts";
import type { Idempotency } from "../../turns/index.ts";
import { type ChatRequest, CompletionRequest } from "../doors/schema.ts";
import { type ChatInput, readInput } from "./input.ts";

/** A chat request after all its parts were read. */
export interface ParsedRequest<Body extends ChatRequest = ChatRequest> {
  body: Body;
  input: ChatInput;
  idempotency: Idempotency | null;
}

/** A body as parsed JSON, and its raw text. */
interface JsonBody {
  body: unknown;
  text: string;
}

/**
 * Reads a body; returns the parsed JSON and the raw text. Bodies of callers that are not `proven` share one limit of
 * memory. Throws the 400, 413 and 415 of decisions §3, and the 503 when that limit is reached.
 */
export async function readJson(c: Context<AppEnv>, { proven }: { proven: boolean }): Promise<JsonBody> {
  const type = c.req.header("Content-Type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !type.endsWith("+json")) {
    throw new EngineError("unsupported-media-type", "Content-Type must be application/json");
  }
  const held = proven ? null : holdBody(c);
  const text = await readText(c, held?.grow).finally(() => held?.end());
  let body: unknown;
  try {
    body = parseJson(text, deepestBody);
  } catch {
    throw new EngineError("bad-request", "The body is not valid JSON");
  }
  requireFewParts(body);
  return { body, text };
}

async function readText(c: Context<AppEnv>, grow?: (bytes: number) => void): Promise<string> {
  await limitBody(c, maxBodyBytes, grow);
  return c.req.text();
}

/** The deepest nesting of a body. Requests of chat clients are far flatter. */
const deepestBody = 200;

/** The most parts of all messages together, checked before validation, since zod takes long for each invalid part. */
const mostParts = 1000;

function requireFewParts(body: unknown): void {
  if (typeof body !== "object" || body === null || !("messages" in body) || !Array.isArray(body.messages)) return;
  let parts = 0;
  for (const message of body.messages.slice(0, 101)) {
    const content: unknown = typeof message === "object" && message !== null ? message.content : undefined;
    parts += Array.isArray(content) ? content.length : 0;
  }
  if (parts > mostParts)
    throw invalid([{ path: ["messages"], message: `must hold at most ${mostParts} parts in all` }]);
}

/** The `model` of a body, read first, since the agent is admitted before the rest is validated. Throws the 400. */
export function readModel(body: unknown): string {
  const model = body !== null && typeof body === "object" && "model" in body ? body.model : undefined;
  if (typeof model === "string" && agentSlugPattern.test(model)) return model;
  const parsed = CompletionRequest.pick({ model: true }).safeParse(body);
  throw invalid(parsed.success ? [{ path: ["model"], message: "must be an agent slug" }] : parsed.error.issues);
}

/** Reads the body, the messages and the `Idempotency-Key`, in this order. Throws the 400s. */
export async function readRequest<Body extends ChatRequest>(
  c: Context<AppEnv>,
  { body, text }: JsonBody,
  schema: z.ZodType<Body>,
): Promise<ParsedRequest<Body>> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues);
  const input = readInput(parsed.data, { get: (name) => c.req.header(name) });
  return { body: parsed.data, input, idempotency: await readIdempotency(c, input.chatId, text) };
}

/** Null without a key or a `chat_id`, since keys belong to a conversation. Throws the 400 of a malformed key. */
async function readIdempotency(c: Context<AppEnv>, chatId: string | null, body: string): Promise<Idempotency | null> {
  const key = c.req.header("Idempotency-Key");
  if (key === undefined || chatId === null) return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new EngineError("bad-request", "Idempotency-Key must be 1 to 255 visible ASCII characters");
  }
  return { key, digest: toHex(await digest(body)) };
}
