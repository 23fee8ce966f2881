import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Services } from "../../../context.ts";
import { EngineError } from "../../../core/errors.ts";
import { digest, newId, toHex } from "../../../core/ids.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { invalid } from "../../../http/errors.ts";
import { originOfForeignPage } from "../../../http/origin.ts";
import type { JsonObject, Origin } from "../../../turn/types.ts";
import {
  AgentChanged,
  type Caller,
  type Grant,
  type Idempotency,
  type TurnRequest,
  writeContext,
} from "../../turns/index.ts";
import { type ChatInput, readInput } from "./input.ts";
import type { ChatRequest } from "./schema.ts";

/** The parts of a chat call that do not depend on the agent. */
export interface Call<Request extends ChatRequest = ChatRequest> {
  request: Request;
  input: ChatInput;
  idempotency: Idempotency | null;
}

/** The turn request of a call; the door adds `throttle`. */
export type AskedTurn = Omit<TurnRequest, "throttle" | "continued">;

/** Reads the body, the messages and the `Idempotency-Key`, in this order at all chat doors. Throws the 400s. */
export async function readCall<Request extends ChatRequest>(
  c: Context<AppEnv>,
  { body, text }: { body: unknown; text: string },
  schema: z.ZodType<Request>,
): Promise<Call<Request>> {
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw invalid(parsed.error.issues);
  const input = readInput(parsed.data, { get: (name) => c.req.header(name) });
  return { request: parsed.data, input, idempotency: await readIdempotency(c, input.chatId, text) };
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

/** The caller of a door that requires the agent's key. */
export function clientOf(c: Context<AppEnv>): Caller {
  return { type: "client", authorization: c.req.header("Authorization"), origin: originOfForeignPage(c) };
}

/** The turn request of a call to the agent's Web channel. */
export function webTurn(c: Context<AppEnv>, grant: Grant, call: Call, door: string): AskedTurn {
  const { chatId, user } = call.input;
  const channelId = chatId === null ? newId() : `api-${chatId}`;
  const ref = `${grant.agent.row.slug}:web:${channelId}`;
  return turnOf(c, call, {
    door,
    ref,
    origin: { channel: "web", channelId, source: "user", depth: 0, subject: user ?? ref },
  });
}

/** The turn request of a call in the conversation that the door names. */
export function turnOf(
  c: Context<AppEnv>,
  { input: { chatId, history, fresh }, idempotency }: Call,
  place: { door: string; ref: string; origin: Origin },
): AskedTurn {
  return {
    ...place,
    stored: chatId !== null,
    input: { history, fresh },
    rule: "cancel-if-silent",
    requestId: c.var.requestId,
    idempotency,
  };
}

/**
 * Writes the context of a call to the conversation's state before its turn. Throws 413 when the state would be too
 * large, and `AgentChanged` when the agent's revision changed, since an old mapping may have projected the values.
 */
export async function commitContext(
  { database }: Pick<Services, "database">,
  { agent: { row } }: Grant,
  { ref, origin: { channel, channelId, subject } }: AskedTurn,
  values: JsonObject,
): Promise<void> {
  const conversation = { id: newId(), ref, channel, channelId };
  const place = { agentId: row.id, agentRevision: row.revision, conversation, subject };
  if (!(await writeContext(database, place, values))) throw new AgentChanged();
}
