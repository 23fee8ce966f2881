import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "../../../db/client.ts";
import { assign } from "../../../db/fragments.ts";
import { conversations, toolCalls, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";

// A turn that stops at calls which a person decides about has the status `approval`, its calls wait in `tool_calls`,
// and its conversation names it as `awaiting`. It goes on in a turn of its own, which names it in `continues`.

/** The turn that continues another one. */
const next = alias(turns, "next");
const call = sql`select 1 from ${toolCalls} where ${toolCalls.turnId} = ${turns.id}`;

/** Conditions on a turn that stopped: another one continues it, a call of it waits, a person decided about a call of it. */
export const isContinued = sql`exists (select 1 from ${turns} ${next} where ${next.continues} = ${turns.id})`;
export const waits = sql`exists (${call} and ${toolCalls.status} = 'pending')`;
export const isDecided = sql`exists (${call} and ${toolCalls.decidedBy} is not null)`;

/**
 * The next message of the end user refuses what waits (decisions §7, `needsApproval`), and what was approved but not
 * continued: a person who writes "stop" must not see the call made afterwards.
 */
export async function refuseWaiting(database: Database, conversationId: string): Promise<void> {
  await refuseStatement.run(database, { conversationId });
}

const refuseStatement = statement({ conversationId: "uuid" }, ({ conversationId }) => {
  const { id, awaiting } = conversations;
  const waiting = alias(conversations, "waiting");
  const refused = { status: "refused", decidedBy: null, reason: "The conversation went on" };
  const begun = sql`select 1 from ${turns} where ${turns.continues} = ${waiting.awaiting} and ${turns.status} <> 'queued'`;
  return sql`
    with ${waiting} as (
      select ${awaiting} from ${conversations} where ${id} = ${conversationId} and ${awaiting} is not null for no key update
    ), refused as (
      update ${toolCalls} set ${assign(toolCalls, refused)} from ${waiting}
      where ${toolCalls.turnId} = ${waiting.awaiting} and ${toolCalls.status} in ('pending', 'approved', 'refused')
        and ${toolCalls.args} is not null and not exists (${begun})
    )
    update ${conversations} set ${assign(conversations, { awaiting: null })}
    where ${id} = ${conversationId} and exists (select 1 from ${waiting})`;
});

/** How much longer than for the decision the engine waits for an agent to continue a decided turn. */
const graceHours = 1;

/**
 * Closes what nobody decided about in time. Where a person decided about another call of the turn, it goes on now; unless
 * it can't for so long that nobody expects it any more.
 */
export async function expireWaiting(database: Database): Promise<void> {
  await expireStatement.run(database, {});
}

const expireStatement = statement({}, () => {
  const { turnId, args, status, expiresAt } = toolCalls;
  const late = sql`${expiresAt} <= now() - ${graceHours} * interval '1 hour'`;
  return sql`
    update ${toolCalls} set ${assign(toolCalls, { status: "expired", decidedBy: null })} from ${turns}
    where ${turns.id} = ${turnId} and ${turns.status} = 'approval' and ${args} is not null and (
      ${status} = 'pending' and ${expiresAt} <= now()
      or ${status} in ('approved', 'refused') and ${late} and not ${isContinued})`;
});

/** Ends the waiting of continued turns, and of turns whose calls were refused without a person's decision. */
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
