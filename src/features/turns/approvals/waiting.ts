import { type Channel, channelsThat } from "../../../core/channels.ts";
import { writeArray } from "../../../db/arrays.ts";
import type { Database } from "../../../db/client.ts";
import type { Continued, PendingCall } from "../../../turn/types.ts";
import type { Suspended } from "../request.ts";

// A turn that stops at calls which a person decides about has the status `approval`, its calls wait in `tool_calls`,
// and its conversation names it as `awaiting`. It goes on in a turn of its own, which names it in `continues`.

/**
 * The next message of the end user refuses what waits (decisions §7, `needsApproval`), and what was approved but not
 * gone on with: whoever writes "stop" must not see it done afterwards.
 */
export async function refuseWaiting(database: Database, conversationId: string): Promise<void> {
  await database.query(
    `with waiting as (
       select awaiting as id from conversations where id = $1 and awaiting is not null for no key update
     ), refused as (
       update tool_calls k set status = 'refused', decided_by = null, reason = 'The conversation went on'
       from waiting where k.turn_id = waiting.id and k.status in ('pending', 'approved', 'refused') and k.args is not null
         and not exists (select 1 from turns n where n.continues = waiting.id and n.status <> 'queued')
     )
     update conversations set awaiting = null where id = $1 and exists (select 1 from waiting)`,
    [conversationId],
  );
}

/** So much longer than for a decision is waited for an agent to go on with what was decided. */
const grace = "1 hour";

/**
 * Closes what nobody decided about in time. Where a person decided about another call of the turn, it goes on now; unless
 * it can't for so long that nobody expects it any more.
 */
export async function expireWaiting(database: Database): Promise<void> {
  await database.query(
    `update tool_calls k set status = 'expired', decided_by = null from turns t
     where t.id = k.turn_id and t.status = 'approval' and k.args is not null and (
       k.status = 'pending' and k.expires_at <= now()
       or k.status in ('approved', 'refused') and k.expires_at <= now() - interval '${grace}'
         and not exists (select 1 from turns n where n.continues = t.id))`,
    [],
  );
}

/** What was decided, as it stands when the turn's place has come. */
export async function asDecided(database: Database, continued: Waiting): Promise<Continued> {
  const { turnId, suspended: _, decided, ...rest } = continued;
  const rows = await database.query<CallStatus & { id: string }>(
    "select tool_call_id as id, status, reason from tool_calls where turn_id = $1 and args is not null",
    [turnId],
  );
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

/** The calls of a turn that stopped, and what it left. */
type Waiting = Continued & { turnId: string; suspended: Suspended };

/** A turn none of whose calls waits any more, and about one of which at least a person decided. */
export interface DecidedTurn {
  turnId: string;
  agentId: string;
  slug: string;
  ref: string;
  channel: Channel;
  channelId: string;
  subject: string;
  door: string;
  continued: Waiting;
}

interface DecidedRow extends Omit<DecidedTurn, "continued"> {
  finishedAt: string;
  suspended: Suspended;
  calls: (CallStatus & { call: PendingCall })[];
}

const decided = `
  t.status = 'approval'
  and not exists (select 1 from turns n where n.continues = t.id)
  and not exists (select 1 from tool_calls k where k.turn_id = t.id and k.status = 'pending')
  and exists (select 1 from tool_calls k where k.turn_id = t.id and k.decided_by is not null)`;

/** How many turns that can go on are read at a time. */
const pageRows = 50;

/**
 * The turns that can go on, oldest first: all, or this one; an agent's no more once it is among those left out. An
 * inactive agent's playground works (decisions §4).
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
  return database.query<DecidedRow>(
    `select t.id as "turnId", t.agent_id as "agentId", t.finished_at as "finishedAt", a.slug, c.ref, c.channel,
       c.channel_id as "channelId", t.subject, t.door, t.suspended,
       (select jsonb_agg(jsonb_build_object('call', k.args, 'status', k.status, 'reason', k.reason) order by k.id)
        from tool_calls k where k.turn_id = t.id and k.args is not null) as calls
     from turns t join conversations c on c.id = t.conversation_id join agents a on a.id = t.agent_id
     where ($1::uuid is null or t.id = $1) and (a.active or c.channel = any($5::text[])) and ${decided}
       and t.agent_id <> all($2::uuid[]) and ($3::timestamptz is null or (t.finished_at, t.id) > ($3, $4::uuid))
     order by t.finished_at, t.id limit ${pageRows}`,
    [
      turnId,
      writeArray([...leftOut]),
      last?.finishedAt ?? null,
      last?.turnId ?? null,
      writeArray(channelsThat("whileInactive")),
    ],
  );
}

function toDecided({ suspended, calls, finishedAt: _, ...turn }: DecidedRow): DecidedTurn {
  return {
    ...turn,
    continued: {
      turnId: turn.turnId,
      suspended,
      messages: suspended.messages,
      ...(suspended.context === undefined ? {} : { context: suspended.context }),
      decided: calls.map(({ call, ...status }) => ({ ...call, ...decisionOf(status) })),
    },
  };
}

/** Ends the waiting of turns that went on, and of those whose calls were refused without anybody's word. */
export async function endWaiting(database: Database): Promise<void> {
  await database.query(
    `with settled as (
     update turns t set status = 'done', suspended = null
     where t.status = 'approval' and not exists (
         select 1 from tool_calls k where k.turn_id = t.id and k.status = 'pending'
       ) and (
         exists (select 1 from turns n where n.continues = t.id)
         or not exists (select 1 from tool_calls k where k.turn_id = t.id and k.decided_by is not null)
       )
     returning t.id, t.conversation_id
     )
     update conversations c set awaiting = null from settled
     where c.id = settled.conversation_id and c.awaiting = settled.id`,
    [],
  );
}
