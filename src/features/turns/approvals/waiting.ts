import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Services } from "../../../context/ctx.ts";
import type { ActingAgent } from "../../../core/activity/activity.ts";
import type { Database } from "../../../db/client.ts";
import { assign, fields, orNull, type RowOf } from "../../../db/fragments.ts";
import { actingAgent, agents, conversations, toolCalls, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { blockedCall } from "../../../turn/activity.ts";

// A turn that stops at calls which need approval has the status `approval`, its calls wait in `tool_calls`, and its
// conversation names it as `awaiting`. Another turn continues it, and names it in `continues`.

/** The turn that continues another one. */
const next = alias(turns, "next");
const call = sql`select 1 from ${toolCalls} where ${toolCalls.turnId} = ${turns.id}`;

/** Conditions on a stopped turn: another one continues it, a call of it waits, a person decided a call of it. */
export const isContinued = sql`exists (select 1 from ${turns} ${next} where ${next.continues} = ${turns.id})`;
export const waits = sql`exists (${call} and ${toolCalls.status} = 'pending')`;
export const isDecided = sql`exists (${call} and ${toolCalls.decidedBy} is not null)`;

/**
 * Refuses the waiting calls when the end user sends another message (decisions §7, `needsApproval`), and the approved
 * calls that were not continued yet: a person who writes "stop" must not see a call made afterwards.
 */
export async function refuseWaiting(
  { database, activity }: Pick<Services, "database" | "activity">,
  agent: ActingAgent,
  { id, ref }: { id: string; ref: string },
): Promise<void> {
  for (const { tool } of await refuseStatement.run(database, { conversationId: id })) {
    activity.emit({ ...blockedCall(tool, "passed-over"), agent, conversationId: ref });
  }
}

const refuseStatement = statement({ conversationId: "uuid" }, ({ conversationId }) => {
  const { id, awaiting } = conversations;
  const waiting = alias(conversations, "waiting");
  const refused = { status: "refused", decidedBy: null, reason: "The conversation went on" };
  const begun = sql`select 1 from ${turns} where ${turns.continues} = ${waiting.awaiting} and ${turns.status} <> 'queued'`;
  return sql<{ tool: string }>`
    with ${waiting} as (
      select ${awaiting} from ${conversations} where ${id} = ${conversationId} and ${awaiting} is not null for no key update
    ), refused as (
      update ${toolCalls} set ${assign(toolCalls, refused)} from ${waiting}
      where ${toolCalls.turnId} = ${waiting.awaiting} and ${toolCalls.status} in ('pending', 'approved', 'refused')
        and ${toolCalls.args} is not null and not exists (${begun})
      returning ${toolCalls.name} as tool
    ), freed as (
      update ${conversations} set ${assign(conversations, { awaiting: null })}
      where ${id} = ${conversationId} and exists (select 1 from ${waiting})
    )
    select tool from refused`;
});

/** How many hours after the decision's deadline a decided turn still waits for its agent to run again. */
const graceHours = 1;

/**
 * Expires the calls that nobody decided in time. If another call of the turn was decided, the turn continues now,
 * unless `graceHours` have passed.
 */
export async function expireWaiting({ database, activity }: Pick<Services, "database" | "activity">): Promise<void> {
  for (const { tool, conversationId, ...agent } of await expireStatement.run(database, {})) {
    activity.emit({ ...blockedCall(tool, "expired"), agent, conversationId });
  }
}

const expireStatement = statement({}, () => {
  const { turnId, args, status, expiresAt } = toolCalls;
  const late = sql`${expiresAt} <= now() - ${graceHours} * interval '1 hour'`;
  const expired = alias(toolCalls, "expired");
  const row = fields({ ...actingAgent, tool: expired.name, conversationId: orNull(conversations.ref) });
  return sql<RowOf<typeof row>>`
    with ${expired} as (
      update ${toolCalls} set ${assign(toolCalls, { status: "expired", decidedBy: null })} from ${turns}
      where ${turns.id} = ${turnId} and ${turns.status} = 'approval' and ${args} is not null and (
        ${status} = 'pending' and ${expiresAt} <= now()
        or ${status} in ('approved', 'refused') and ${late} and not ${isContinued})
      returning ${toolCalls.agentId}, ${toolCalls.name}, ${turnId}
    )
    select ${row} from ${expired} join ${agents} on ${agents.id} = ${expired.agentId}
    left join ${turns} on ${turns.id} = ${expired.turnId}
    left join ${conversations} on ${conversations.id} = ${turns.conversationId}`;
});

/** Removes the waiting state of continued turns, and of turns whose calls were refused without a person's decision. */
export async function endWaiting(database: Database): Promise<void> {
  await endStatement.run(database, {});
}

const endStatement = statement({}, () => {
  const ended = alias(turns, "ended");
  return sql`
    with ${ended} as (
      update ${turns} set ${assign(turns, { status: "done", suspended: null })}
      where ${turns.status} = 'approval' and not ${waits} and (${isContinued} or not ${isDecided})
      returning ${turns.id}, ${turns.conversationId}
    )
    update ${conversations} set ${assign(conversations, { awaiting: null })} from ${ended}
    where ${conversations.id} = ${ended.conversationId} and ${conversations.awaiting} = ${ended.id}`;
});
