import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { EngineError } from "../../../core/errors.ts";
import { digest, newId, toHex } from "../../../core/ids.ts";
import type { Share } from "../../../core/limits/admission.ts";
import { clientKey } from "../../../http/callers/address.ts";
import { originOfForeignPage } from "../../../http/callers/origin.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { invalid } from "../../../http/errors.ts";
import type { Origin } from "../../../turn/types.ts";
import type { Caller, Grant, Idempotency, LiveAgent, StoredReply, TurnRequest } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import type { DoorGrant } from "./agent-key.ts";
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

/** The organization, agent and client whose share of the server a request takes. */
export function shareOf(c: Context<AppEnv>, { row }: LiveAgent): Share {
  return [row.organizationId, row.slug, clientKey(c.get("ip"))];
}

/**
 * Throws `Overloaded` where the call would be refused for it in the end: before its credentials are looked at, and
 * natively before its body is read. Such a call is counted nowhere.
 */
export function requireRoom(c: Context<AppEnv>, { services }: Chat, agent: LiveAgent | null): void {
  if (agent) services.admission.requireRoom(shareOf(c, agent));
}

/** The turn request of a call to the agent's Web channel. */
export function webTurn(c: Context<AppEnv>, grant: DoorGrant, call: Call, door: string): AskedTurn {
  const { chatId, user } = call.input;
  const channelId = chatId === null ? newId() : `api-${chatId}`;
  const ref = `${grant.agent.row.slug}:web:${channelId}`;
  // Anybody may claim to be anybody: whose memories a turn reads takes the key, also where the call needs none.
  const subject = grant.holdsKey && user !== null ? subjectKey("web", user) : subjectKey("conversation", ref);
  return turnOf(c, call, {
    door,
    ref,
    origin: { channel: "web", channelId, source: "user", depth: 0, subject },
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
    requestId: c.get("requestId"),
    idempotency,
  };
}

/**
 * The answer of an earlier request with the same `Idempotency-Key`; null for a first request, and for a request without
 * a key. Throws the 422 and 409 of a key that is taken, and `AgentChanged`.
 */
export async function findAnswered(
  { turns }: Chat,
  { agent }: Grant,
  { ref, idempotency }: AskedTurn,
): Promise<StoredReply | null> {
  if (!idempotency) return null;
  const found = turns.findRepeat({ agentId: agent.row.id, ref }, idempotency);
  const isFirst = await found.then(
    (reply) => reply === null,
    () => false,
  );
  // A first request goes on to OPEN, which compares the agent itself.
  if (!isFirst) await turns.agents.confirm(agent);
  return found;
}
