import { type SQL, sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { every } from "../../../core/time/every.ts";
import type { Db, Queries } from "../../../db/client.ts";
import { earlierNow, isBefore } from "../../../db/fragments.ts";
import { isNotHeld } from "../../../db/held.ts";
import { conversations, eventBacklog, jobs, roomEvents, turns } from "../../../db/schema.ts";
import { statement } from "../../../db/statement.ts";
import { isRunning, waits } from "../../../jobs/claim-statement.ts";
import type { RetainedRows } from "../../../jobs/retained-rows.ts";
import { deleteRowsOf } from "../../conversations/index.ts";
import { converseJob } from "./store.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];

/** The most stored events of an agent, and the most bytes of their stored payloads. */
const [mostKept, mostBytes] = [100_000, 2 ** 30];
const keptMs = 30 * dayMs;

/** The most rows that one statement deletes, and the most that it counts: the embedded database is blocked meanwhile. */
const [batchSize, pageSize] = [50, 10_000];

/** The most statements of one call, so that other upkeep does not wait for long. They delete faster than events arrive. */
const mostSteps = 100;

/**
 * Deletes each agent's finished events that are older than 30 days, or not among its newest 100,000 with 1 GiB of
 * payloads. Checks all agents every 10 minutes, in several calls if necessary. Call it every 10 seconds.
 */
export function forgetEvents(
  { database, clock }: Pick<Services, "database" | "clock">,
  bytes = mostBytes,
): () => Promise<void> {
  const begin = () => forgetting(database, () => new Date(clock.now()), bytes);
  let pass = begin();
  return every(clock, 10 * minuteMs, async () => {
    for (let step = 0; step < mostSteps; step += 1) {
      const { done } = await pass.next();
      if (!done) continue;
      pass = begin();
      return true;
    }
    return false;
  });
}

/** Checks each agent in turn. A step is one statement. */
async function* forgetting(queries: Queries, now: () => Date, most: number): AsyncGenerator<void, void> {
  for (const { agentId } of await agentsStatement.run(queries, {})) {
    let [since, left] = ["infinity", most];
    for (let counted = 0; since !== "-infinity" && left >= 0 && counted < mostKept; counted += pageSize) {
      const [page] = await pageStatement.run(queries, { agentId, before: since, bytes: left });
      since = page?.since ?? "-infinity";
      left = Number(page?.left);
      yield;
    }
    const old = { agentId, since, now: now() };
    while ((await deleteStatement.run(queries, old)).length === batchSize) yield;
    yield;
  }
}

/**
 * The agents that have events: walks along the index from agent to agent. For an agent without events, the planner would
 * otherwise read all events of the others.
 */
const agentsStatement = statement({}, () => {
  const { agentId, receivedAt } = roomEvents;
  const first = (condition: SQL) => sql`(
    select ${agentId} as agent_id from ${roomEvents} where ${condition} order by ${agentId}, ${receivedAt} limit 1)`;
  return sql<{ agentId: string }>`
    with recursive walk as (
      ${first(sql`true`)} union all
      select next.* from walk cross join lateral ${first(sql`${agentId} > walk.agent_id`)} next
    ) select agent_id as "agentId" from walk`;
});

/**
 * A page of an agent's events before a time, newest first: the time of the last event that fits into `bytes` (null when
 * all fit and the page is not full), and the bytes left, negative when they did not suffice. The limit is hidden from
 * the planner, which would otherwise sort all events of the agent until it has statistics.
 */
const pageStatement = statement(
  { agentId: "uuid", before: "timestamptz", bytes: "bigint" },
  ({ agentId, before, bytes }) => sql<{ since: string | null; left: string }>`
    select ${bytes} - coalesce(max(sum), 0) as left,
      case when max(sum) > ${bytes} then coalesce(min(at) filter (where sum <= ${bytes}), ${before})
        when count(*) = ${pageSize} then min(at) end as since
    from (
      select at, sum(size) over (order by at desc rows unbounded preceding) as sum
      from (
        select ${roomEvents.receivedAt} as at, coalesce(pg_column_size(${roomEvents.payload}), 0)::bigint as size
        from ${roomEvents} where ${roomEvents.agentId} = ${agentId} and ${roomEvents.receivedAt} < ${before}
        order by ${roomEvents.receivedAt} desc limit (select ${pageSize})) as page) as summed`,
);

/** Whether a subquery finds nothing. As a value, PostgreSQL evaluates it row by row along an index. */
const none = (found: SQL) => sql`(${found} limit 1) is null`;

/** Whether no job for the event's turn exists. The keys of jobs are read once, when an event began a conversation. */
const hasNoJob = sql`${roomEvents.id} <> all(array(
    select ${jobs.key}::uuid from ${jobs} where ${jobs.kind} = ${converseJob.kind} and ${waits} union all
    select ${jobs.key}::uuid from ${jobs} where ${jobs.kind} = ${converseJob.kind} and ${isRunning}))`;

/** Whether no turn waits for approval: it would read the event when it continues. */
const hasNoTurn = none(sql`
    select 1 from ${conversations} join ${turns} on ${turns.conversationId} = ${conversations.id}
    where ${conversations.ref} = ${roomEvents.conversationRef} and ${turns.status} in ('queued', 'running', 'approval')`);

const hasNoEntry = none(sql`
    select 1 from ${eventBacklog}
    where ${eventBacklog.roomEventId} = ${roomEvents.id} and ${eventBacklog.status} in ('pending', 'processing')`);

/** Whether an event is finished, and began no conversation under legal hold. */
const isOver = sql`case ${roomEvents.outcome}
    when 'pending' then false when 'conversation' then ${hasNoJob} and ${hasNoTurn}
    when 'backlog' then ${hasNoEntry} else true end and ${isNotHeld("ref", roomEvents.conversationRef)}`;

export const retainedEvents: RetainedRows = {
  subject: "room_events",
  table: roomEvents,
  along: roomEvents.receivedAt,
  isOld: ({ before }) => sql`${isBefore(roomEvents.receivedAt, before)} and ${isOver}`,
};

/** Deletes finished events older than `since` or than the retention. Parallel replicas skip each other's locked rows. */
const deleteStatement = statement(
  { agentId: "uuid", since: "timestamptz", now: "timestamptz" },
  ({ agentId, since, now }) => sql<{ id: string }>`
    delete from ${roomEvents} where ${roomEvents.id} = any(array(
      select ${roomEvents.id} from ${roomEvents}
      where ${roomEvents.agentId} = ${agentId}
        and ${roomEvents.receivedAt} < greatest(${since}, ${earlierNow(now)} - ${keptMs} * interval '1 millisecond')
        and ${isOver}
      order by ${roomEvents.receivedAt} limit ${batchSize} for update skip locked))
    returning ${roomEvents.id}`,
);

/** Deletes all events of an agent, and its backlog, in the transaction that deletes the agent. */
export async function deleteEventsOf(tx: Db, agentId: string): Promise<void> {
  await deleteRowsOf(tx, eventBacklog, { agentId, since: eventBacklog.matchedAt });
  await deleteRowsOf(tx, roomEvents, { agentId, since: roomEvents.receivedAt });
}
