import { and, eq, inArray, isNotNull, or, sql } from "drizzle-orm";
import { type Channel, channelsThat } from "../../../core/channels/channels.ts";
import type { SubjectKey } from "../../../core/channels/subjects.ts";
import type { Database } from "../../../db/client.ts";
import { fields, jsonObject, type RowOf } from "../../../db/fragments.ts";
import { agents, conversations, toolCalls, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import type { Continuation, PendingCall } from "../../../turn/types.ts";
import type { Suspended } from "../request.ts";
import { isContinued, isDecided, waits } from "./waiting.ts";

/** Reads the decisions again when the turn gets its slot. */
export async function asDecided(database: Database, continued: SuspendedTurn): Promise<Continuation> {
  const { turnId, suspended: _, decided, ...rest } = continued;
  const { toolCallId, status, reason, args } = toolCalls;
  const rows = await database.db
    .select({ id: toolCallId, status, reason })
    .from(toolCalls)
    .where(and(eq(toolCalls.turnId, turnId), isNotNull(args)));
  const standing = new Map(rows.map(({ id, ...status }) => [id, decisionOf(status)]));
  return { ...rest, decided: decided.map((call) => ({ ...call, approved: false, ...standing.get(call.toolCallId) })) };
}

interface CallStatus {
  status: string;
  reason: string | null;
}

const decisionOf = ({ status, reason }: CallStatus) => ({
  approved: status === "approved",
  expired: status === "expired",
  reason,
});

/** The calls of a stopped turn, and the part of the turn that is still to run. */
type SuspendedTurn = Continuation & { turnId: string; suspended: Suspended };

/** A stopped turn without waiting calls, at least one of which a person decided. */
export interface DecidedTurn {
  turnId: string;
  agentId: string;
  slug: string;
  ref: string;
  channel: Channel;
  channelId: string;
  subject: SubjectKey;
  door: string;
  continued: SuspendedTurn;
}

const decidedFields = fields({
  turnId: turns.id,
  agentId: turns.agentId,
  finishedAt: turns.finishedAt,
  slug: agents.slug,
  ref: conversations.ref,
  channel: sql<Channel>`${conversations.channel}`,
  channelId: conversations.channelId,
  subject: turns.subject,
  door: turns.door,
  suspended: sql<Suspended>`${turns.suspended}`,
  calls: sql<(CallStatus & { call: PendingCall })[]>`(
    select json_agg(${jsonObject({ call: toolCalls.args, status: toolCalls.status, reason: toolCalls.reason })}
      order by ${toolCalls.id})
    from ${toolCalls} where ${toolCalls.turnId} = ${turns.id} and ${toolCalls.args} is not null)`,
});

type DecidedRow = RowOf<typeof decidedFields>;

/** The most turns of one read. */
const pageRows = 50;

/**
 * The turns to continue, oldest first: all, or the given one; without those of agents that just refused. An inactive
 * agent's playground works (decisions §4).
 */
export async function* findDecided(
  database: Database,
  turnId: string | null,
  leftOut: ReadonlySet<string>,
): AsyncGenerator<DecidedTurn> {
  let last: DecidedRow | undefined;
  do {
    const rows = await readDecided(database, turnId, leftOut, last);
    for (const row of rows) if (!leftOut.has(row.agentId)) yield toDecided(row);
    last = rows.length === pageRows ? rows.at(-1) : undefined;
  } while (last);
}

function readDecided(
  database: Database,
  turnId: string | null,
  leftOut: ReadonlySet<string>,
  last: DecidedRow | undefined,
): Promise<DecidedRow[]> {
  const after = { finishedAt: last?.finishedAt ?? null, afterId: last?.turnId ?? null };
  return decidedStatement.run(database, { turnId, leftOut: [...leftOut], ...after });
}

const decidedStatement = statement(
  { turnId: "uuid | null", leftOut: "uuid[]", finishedAt: "timestamptz | null", afterId: "uuid | null" },
  ({ turnId, leftOut, finishedAt, afterId }) => {
    const served = or(agents.active, inArray(conversations.channel, channelsThat("whileInactive")));
    const behind = sql`(${turns.finishedAt}, ${turns.id}) > (${finishedAt}, ${afterId})`;
    return sql<DecidedRow>`
      select ${decidedFields}
      from ${turns} join ${conversations} on ${conversations.id} = ${turns.conversationId}
      join ${agents} on ${agents.id} = ${turns.agentId}
      where (${turnId} is null or ${turns.id} = ${turnId}) and ${served}
        and ${turns.status} = 'approval' and not ${isContinued} and not ${waits} and ${isDecided}
        and ${turns.agentId} <> all(${leftOut}) and (${finishedAt} is null or ${behind})
      order by ${turns.finishedAt}, ${turns.id} limit ${pageRows}`;
  },
);

function toDecided({ suspended, calls, finishedAt: _, ...turn }: DecidedRow): DecidedTurn {
  const { messages, context, answeredBy } = suspended;
  return {
    ...turn,
    continued: {
      turnId: turn.turnId,
      suspended,
      messages,
      ...(context === undefined ? {} : { context }),
      ...(answeredBy ? { answeredBy } : {}),
      decided: calls.map(({ call, ...status }) => ({ ...call, ...decisionOf(status) })),
    },
  };
}
