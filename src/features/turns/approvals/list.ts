import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { shownSubject, subjectKey } from "../../../core/channels/subjects.ts";
import { agents, conversations, toolCalls, turns } from "../../../db/schema.ts";
import { countTotal } from "../../../http/paging.ts";
import type { PendingCall } from "../../../turn/types.ts";
import { findAgent, withinReach } from "../../agents/index.ts";

interface Query {
  /** The agent's slug; absent for all reachable agents. */
  instanceId?: string | undefined;
  limit: number;
  offset: number;
}

/** A page of the reachable calls that wait for approval, oldest first. Throws the 404 of the agent. */
export async function listWaiting(ctx: Ctx, { instanceId, limit, offset }: Query) {
  const agent = instanceId === undefined ? null : await findAgent(ctx, instanceId);
  const wanted = and(
    withinReach(ctx),
    agent ? eq(agents.id, agent.id) : undefined,
    sql`${toolCalls.status} = 'pending' and ${toolCalls.args} is not null and ${toolCalls.expiresAt} > now()`,
  );
  const rows = await selectWaiting(ctx, wanted).limit(limit).offset(offset);
  const total = await countTotal(ctx.db, rows.length, { limit, offset }, selectWaiting(ctx, wanted));
  return { approvals: rows.map(toApproval), total, limit, offset };
}

function selectWaiting({ db }: Ctx, wanted: SQL | undefined) {
  return db
    .select({
      conversationId: conversations.ref,
      instanceId: agents.slug,
      toolCallId: toolCalls.toolCallId,
      toolName: toolCalls.name,
      // The turn scrubbed the arguments before it stored them.
      args: sql<PendingCall["args"]>`${toolCalls.args} -> 'args'`,
      requestedAt: toolCalls.createdAt,
      // A waiting call always has an expiry.
      expiresAt: sql<Date>`${toolCalls.expiresAt}`.mapWith(toolCalls.expiresAt),
      subject: turns.subject,
    })
    .from(toolCalls)
    .innerJoin(turns, eq(turns.id, toolCalls.turnId))
    .innerJoin(conversations, eq(conversations.id, turns.conversationId))
    .innerJoin(agents, eq(agents.id, toolCalls.agentId))
    .where(wanted)
    .orderBy(asc(toolCalls.createdAt), asc(toolCalls.id));
}

type Row = Awaited<ReturnType<typeof selectWaiting>>[number];

function toApproval({ subject, requestedAt, expiresAt, ...call }: Row) {
  const shown = shownSubject(subject);
  return {
    ...call,
    requestedAt: requestedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    // A conversation without a user is its own subject.
    ...(subject === subjectKey("conversation", call.conversationId)
      ? { user: null, userChannel: null }
      : { user: shown.subject, userChannel: shown.subjectChannel }),
  };
}
