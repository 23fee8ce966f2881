import { EngineError } from "../../core/errors.ts";
import { sameText } from "../../core/ids.ts";
import { isObject } from "../../core/json.ts";
import { storableJson } from "../../core/text.ts";
import type { Database } from "../../db/client.ts";
import { jsonFits } from "../../db/json.ts";
import { stateLimit } from "../../turn/state.ts";
import type { JsonObject, JsonValue } from "../../turn/types.ts";
import { type Agents, bearer, type Grant } from "./admit.ts";
import type { ChatInput } from "./input.ts";

/**
 * What the `context` of a request writes to the conversation's state: the values that the agent maps and the context
 * has; null for a request without any. Throws the refusals of decisions §5 "Context", in their order.
 */
export async function readContext(
  context: unknown,
  { chatId }: ChatInput,
  grant: Grant,
  agents: Agents,
): Promise<JsonObject | null> {
  if (context === undefined) return null;
  if (chatId === null) throw new EngineError("bad-request", "context requires chat_id");
  if (!isObject(context)) throw new EngineError("bad-request", "context must be an object");
  try {
    return admitContext(context, grant);
  } catch {
    // A cached agent may refuse what the stored one does not.
    return admitContext(context, await agents.believable(grant));
  }
}

function admitContext(context: JsonObject, { agent, by }: Grant): JsonObject {
  const mapping = Object.entries(agent.web.contextMapping);
  if (mapping.length === 0) {
    throw new EngineError(
      "bad-request",
      "This agent maps no web context fields: configure them before sending context",
    );
  }
  if (typeof by === "object" && "authorization" in by)
    requireKey(agent.secrets.get("auth_api_key"), bearer(by.authorization));
  return project(context, mapping);
}

function requireKey(stored: string | undefined, presented: string | null): void {
  if (!stored) throw new EngineError("unauthorized", "Call context requires the agent's API key");
  if (presented === null) throw new EngineError("unauthorized", "Missing Bearer token");
  if (!sameText(presented, stored)) throw new EngineError("unauthorized", "Invalid API key");
}

/** The values at the dotted paths; an absent one is skipped, and null is a value. */
export function project(context: JsonObject, mapping: readonly (readonly [string, string])[]): JsonObject {
  const found = mapping.flatMap(([key, path]) => {
    const value = valueAt(context, path);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(found);
}

function valueAt(context: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = context;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

interface Place {
  agentId: string;
  agentRevision: number;
  conversation: { id: string; ref: string; channel: string; channelId: string };
  subject: string;
}

const statement = `
  with agent as (
    select id, organization_id from agents where id = $1::uuid and revision = $2::int
  ), old as (
    select coalesce((select state from conversations where ref = $4), '{}') as state
  ), written as (
    insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject, state)
    select $3::uuid, agent.id, agent.organization_id, $4, $5, $6, $7, $8::jsonb from agent, old
    where ${jsonFits("old.state || $8::jsonb", "$9::int")}
    on conflict (ref) do update set state = conversations.state || excluded.state
      where ${jsonFits("conversations.state || excluded.state", "$9::int")}
    returning id
  )
  select exists (select 1 from agent) as agent_found, exists (select 1 from written) as written`;

/**
 * Writes a request's context to the state of its conversation, in a statement of its own: it stays whatever becomes of
 * the turn. Answers false when the agent is not as it was cached. Throws 413 when the state would be too large.
 */
export async function writeContext(database: Database, place: Place, values: JsonObject): Promise<boolean> {
  const { agentId, agentRevision, conversation, subject } = place;
  const added = storableJson(values);
  // Before the database unpacks it: there a short number may be hundreds of digits.
  if (new TextEncoder().encode(added).byteLength > stateLimit) throw stateTooLarge();
  const [row] = await database.query<{ agent_found: boolean; written: boolean }>(statement, [
    agentId,
    agentRevision,
    conversation.id,
    conversation.ref,
    conversation.channel,
    conversation.channelId,
    subject,
    added,
    stateLimit,
  ]);
  if (!row?.agent_found) return false;
  if (row.written) return true;
  throw stateTooLarge();
}

const again = `
  with conversation as (select id, state || $2::jsonb as state from conversations where id = $1::uuid for update),
  written as (
    update conversations c set state = w.state from conversation w
    where c.id = w.id and ${jsonFits("w.state", "$3::int")}
    returning 1
  )
  select exists (select 1 from written) as written`;

/**
 * Writes the context of a request that had to wait once more when its turn comes: those before it may have changed the
 * same keys. Throws 413 when the state would be too large by now.
 */
export async function writeContextAgain(database: Database, conversationId: string, values: JsonObject): Promise<void> {
  const parameters = [conversationId, storableJson(values), stateLimit];
  const [row] = await database.query<{ written: boolean }>(again, parameters);
  if (!row?.written) throw stateTooLarge();
}

function stateTooLarge(): EngineError {
  return new EngineError(
    "too-large",
    `The conversation's state would be larger than ${stateLimit} bytes: send less context`,
  );
}
