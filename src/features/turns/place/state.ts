import { EngineError } from "../../../core/errors.ts";
import { storableJson } from "../../../core/text.ts";
import type { Database } from "../../../db/client.ts";
import { jsonFits } from "../../../db/json.ts";
import { stateLimit } from "../../../turn/state.ts";
import type { JsonObject } from "../../../turn/types.ts";

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
export async function rewriteContext(database: Database, conversationId: string, values: JsonObject): Promise<void> {
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
