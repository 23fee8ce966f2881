import { eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { EngineError } from "../../../core/errors.ts";
import { storableJson } from "../../../core/text/text.ts";
import type { Database } from "../../../db/client.ts";
import { assign, column, excluded, insertInto, jsonFits } from "../../../db/fragments.ts";
import { agents, conversations } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { stateLimit } from "../../../turn/state.ts";
import type { JsonObject } from "../../../turn/types.ts";
import { AgentChanged } from "../access/agents.ts";

interface StateOwner {
  agentId: string;
  agentRevision: number;
  conversation: { id: string; ref: string; channel: string; channelId: string };
  subject: string;
}

const writeStatement = statement(
  {
    agentId: "uuid",
    agentRevision: "int",
    subject: "text",
    added: "jsonb",
    conversationId: "uuid",
    ref: "text",
    channel: "text",
    channelId: "text",
  },
  ({ agentId, agentRevision, conversationId: id, added, ...place }) => {
    const agent = alias(agents, "agent");
    const { state, ref } = conversations;
    // Another agent's conversation may have the same id.
    const ofAgent = sql`${conversations.agentId} = ${agentId}`;
    const changed = sql`${state} || ${excluded(state)}`;
    const stored = sql`select ${state} from ${conversations} where ${ref} = ${place.ref} and ${ofAgent}`;
    const begun = { id, agentId: agent.id, organizationId: agent.organizationId, ...place, state: added };
    const replaced = sql`select jsonb_object_agg(key, value) from old, jsonb_each(old.state) where ${added} ? key`;
    return sql<{ agentFound: boolean; written: boolean; replaced: JsonObject | null }>`
      with ${agent} as (
        select ${agents.id}, ${agents.organizationId} from ${agents}
        where ${agents.id} = ${agentId} and ${agents.revision} = ${agentRevision}
      ), old as (
        select coalesce((${stored}), '{}') as state
      ), written as (
        ${insertInto(conversations, begun)} from ${agent}, old
        where ${jsonFits(sql`old.state || ${added}`, stateLimit)}
        on conflict (${column(ref)}) do update set ${assign(conversations, { state: changed })}
          where ${jsonFits(changed, stateLimit)} and ${ofAgent}
        returning 1
      )
      select exists (select 1 from ${agent}) as "agentFound", exists (select 1 from written) as written,
        (${replaced}) as replaced`;
  },
);

/**
 * Writes a request's context to its conversation's state, in a separate statement, then runs `take`. The values stay
 * even if the turn fails. If the agent changes before `take` is done, the write is undone, since the agent's old
 * mapping made the values. Throws `AgentChanged`, and 413 when the state would be too large.
 */
export async function withContext<T>(
  database: Database,
  place: StateOwner,
  values: JsonObject,
  take: () => Promise<T>,
): Promise<T> {
  const replaced = await writeContext(database, place, values);
  if (!replaced) throw new AgentChanged();
  try {
    return await take();
  } catch (error) {
    if (error instanceof AgentChanged) await takeBack(database, place.conversation.ref, { values, replaced });
    throw error;
  }
}

/** Writes the values; returns the replaced ones, or null when the agent's revision is not the cached one. */
export async function writeContext(
  database: Database,
  place: StateOwner,
  values: JsonObject,
): Promise<JsonObject | null> {
  const { agentId, agentRevision, conversation, subject } = place;
  const added = storableJson(values);
  // Checked before the database reads the values, where a short number may become hundreds of digits.
  if (new TextEncoder().encode(added).byteLength > stateLimit) throw stateTooLarge();
  const { id: conversationId, ref, channel, channelId } = conversation;
  const parameters = { agentId, agentRevision, subject, added, conversationId, ref, channel, channelId };
  const [row] = await writeStatement.run(database, parameters);
  if (!row?.agentFound) return null;
  if (row.written) return row.replaced ?? {};
  throw stateTooLarge();
}

interface WrittenContext {
  values: JsonObject;
  /** The replaced values. */
  replaced: JsonObject;
}

/** Restores the replaced values, except for keys that another request has written since. */
async function takeBack({ db }: Database, ref: string, { values, replaced }: WrittenContext): Promise<void> {
  const { state } = conversations;
  const written = sql`${storableJson(values)}::jsonb`;
  const own = sql`${state} -> key = ${written} -> key`;
  const keys = sql`array(select key from jsonb_object_keys(${written}) as key where ${own})`;
  const old = sql`select jsonb_object_agg(key, value) from jsonb_each(${storableJson(replaced)}::jsonb) where ${own}`;
  await db
    .update(conversations)
    .set({ state: sql`${state} - ${keys} || coalesce((${old}), '{}')` })
    .where(eq(conversations.ref, ref));
}

const rewriteStatement = statement({ conversationId: "uuid", added: "jsonb" }, ({ conversationId, added }) => {
  const changed = alias(conversations, "changed");
  const { id, state } = conversations;
  return sql<{ written: boolean }>`
    with ${changed} as (
      select ${id}, ${state} || ${added} as ${column(state)} from ${conversations} where ${id} = ${conversationId} for update
    ), written as (
      update ${conversations} set ${assign(conversations, { state: changed.state })} from ${changed}
      where ${id} = ${changed.id} and ${jsonFits(sql`${changed.state}`, stateLimit)}
      returning 1
    )
    select exists (select 1 from written) as written`;
});

/**
 * Writes a queued request's context again when its turn runs, since earlier turns may have changed the same keys.
 * Throws 413 when the state would then be too large.
 */
export async function rewriteContext(database: Database, conversationId: string, values: JsonObject): Promise<void> {
  const [row] = await rewriteStatement.run(database, { conversationId, added: storableJson(values) });
  if (!row?.written) throw stateTooLarge();
}

function stateTooLarge(): EngineError {
  return new EngineError(
    "too-large",
    `The conversation's state would be larger than ${stateLimit} bytes: send less context`,
  );
}
