import { and, asc, count, eq, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { ownerOf } from "../../../core/activity/activity.ts";
import { channelOf } from "../../../core/channels/channels.ts";
import { newId } from "../../../core/ids.ts";
import { storable, storableJson } from "../../../core/text/text.ts";
import type { Database, Db } from "../../../db/client.ts";
import { agents, conversations, hookExecutions, messages, turns } from "../../../db/schema.ts";
import { failedHook } from "../../../turn/activity.ts";
import { clipExecution, type HookScope, runHooks } from "../../../turn/hooks.ts";
import { type StateChanges, TurnState } from "../../../turn/state.ts";
import type { HookExecution, JsonObject, JsonValue, Origin } from "../../../turn/types.ts";
import type { Agents } from "../access/agents.ts";
import { actingAs, type LiveAgent } from "../agent/load.ts";
import { limitsOf } from "../prepare.ts";

/** A stored turn, as the hooks after its sent reply need it. */
interface SentTurn {
  slug: string;
  conversation: { id: string; ref: string };
  origin: Origin;
  state: JsonObject;
  text: string;
  fresh: string[];
}

/**
 * Runs the `response_sent` hooks of a turn whose reply was sent after the recording, as messengers do, and stores their
 * executions. Does nothing when they ran already, or the turn was deleted. Throws the 404 of an inactive or deleted
 * agent.
 */
export async function replySent(
  services: Services,
  agents: Agents,
  turnId: string,
  signal: AbortSignal,
): Promise<void> {
  const { database, clock, policies, activity } = services;
  const turn = await readTurn(database.db, turnId);
  if (!turn) return;
  const { agent } = await agents.admitNow(turn.slug, { type: "engine", whileInactive: false });
  const state = new TurnState(turn.state);
  const limits = limitsOf(policies.values, agent.row.maxSteps);
  const scope = { turnId, requestId: turnId, ...scopeOf(agent, turn, state, limits) };
  const executions: HookExecution[] = [];
  const reply = { text: turn.text, hookId: null };
  await runHooks(scope, "response_sent", reply, { signal, clock }, (execution) => executions.push(execution));
  if (executions.length === 0) return;
  const stored = await store(database, { turnId, turn, executions, state });
  const conversationId = turn.conversation.ref;
  const owner = ownerOf(agent.row);
  for (const { id } of stored) activity.persisted({ agent: owner, conversationId, hookExecutionId: id });
  const failed = executions.filter(({ success }) => !success);
  for (const execution of failed) activity.emit({ ...failedHook(execution), agent: actingAs(agent), conversationId });
}

function scopeOf(
  agent: LiveAgent,
  turn: SentTurn,
  state: TurnState,
  limits: HookScope["limits"],
): Omit<HookScope, "turnId" | "requestId"> {
  const { row, hooks, scrub, tools } = agent;
  return {
    agent: { id: row.id, slug: row.slug, name: row.name },
    conversation: { ...turn.conversation, ticket: 0 },
    conversationRef: turn.conversation.ref,
    origin: turn.origin,
    fresh: turn.fresh,
    hooks,
    limits,
    state,
    scrub,
    tools,
  };
}

/** Undefined without a stored reply, and when its hooks ran already. */
async function readTurn(db: Db, turnId: string): Promise<SentTurn | undefined> {
  const [row] = await db
    .select({
      slug: agents.slug,
      id: conversations.id,
      ref: conversations.ref,
      channel: conversations.channel,
      channelId: conversations.channelId,
      state: conversations.state,
      source: turns.source,
      subject: turns.subject,
      text: messages.content,
    })
    .from(turns)
    .innerJoin(agents, eq(agents.id, turns.agentId))
    .innerJoin(conversations, eq(conversations.id, turns.conversationId))
    .innerJoin(messages, eq(messages.id, turns.id))
    .where(eq(turns.id, turnId));
  if (!row || (await hooksRan(db, turnId))) return undefined;
  const said = await db
    .select({ content: messages.content })
    .from(messages)
    .where(and(eq(messages.turnId, turnId), eq(messages.role, "user")))
    .orderBy(asc(messages.seq));
  const { slug, id, ref, channel, channelId, source, subject, text } = row;
  return {
    slug,
    conversation: { id, ref },
    text,
    fresh: said.map(({ content }) => content),
    origin: { channel: channelOf(channel), channelId, source, depth: 0, subject },
    state: row.state as JsonObject,
  };
}

async function hooksRan(db: Db, turnId: string): Promise<boolean> {
  const [ran] = await db
    .select({ ran: count() })
    .from(hookExecutions)
    .where(and(eq(hookExecutions.turnId, turnId), eq(hookExecutions.event, "response_sent")));
  return (ran?.ran ?? 0) > 0;
}

interface Ran {
  turnId: string;
  turn: SentTurn;
  executions: readonly HookExecution[];
  state: TurnState;
}

/** Stores the executions; returns their rows' ids. */
async function store(database: Database, { turnId, turn, executions, state }: Ran): Promise<{ id: string }[]> {
  const { id } = turn.conversation;
  const changes = state.changes();
  const clipped = executions.map((execution) => clipExecution(execution));
  const rows = clipped.map(({ args, result, error, ...execution }, index) => ({
    ...execution,
    id: newId(),
    conversationId: id,
    turnId,
    position: firstPosition + index,
    error: error === null ? null : storable(error),
    args: json(args),
    result: json(result),
  }));
  await database.transaction(async (tx) => {
    await tx.insert(hookExecutions).values(rows);
    if (changes && (await takes(tx, id, changes))) {
      const removed = sql`array(select jsonb_array_elements_text(${json(changes.removed)}))`;
      const changed = sql`(${conversations.state} || ${json(changes.set)}) - ${removed}`;
      await tx.update(conversations).set({ state: changed }).where(eq(conversations.id, id));
    }
  });
  return rows;
}

/** Whether the state has room for the changes, including other writers' values; locks the conversation. */
async function takes(tx: Db, conversationId: string, { set, removed }: StateChanges): Promise<boolean> {
  const [row] = await tx
    .select({ state: conversations.state })
    .from(conversations)
    .where(eq(conversations.id, conversationId))
    .for("update");
  const state = new TurnState(row?.state as JsonObject | undefined);
  try {
    for (const key of removed) state.set(key, null);
    for (const [key, value] of Object.entries(set)) state.set(key, value);
    return row !== undefined;
  } catch {
    return false;
  }
}

/** Larger than the position of any hook of the turn itself. */
const firstPosition = 10_000;

const json = (value: JsonValue) => sql`${storableJson(value)}::jsonb`;
