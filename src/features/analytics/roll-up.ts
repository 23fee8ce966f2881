import { sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { every } from "../../core/time/every.ts";
import { assign } from "../../db/fragments.ts";
import { agents, isOpen, toolCalls, turns, usageRollups } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { addTo, latency, singles, toolUsage, usage, users } from "./sums.ts";

/** The interval of roll-ups, in milliseconds. Reads add up newer turns one by one. */
const everyMs = 10 * 60 * 1000;

/** The most statements of a tick, each for an hour's turns at most. After an outage a roll-up takes several ticks. */
const mostStatements = 24;

/** Longer than a statement's deadline: a turn older than this is stored by now, or never will be. */
const settlesSeconds = 60;

/**
 * Adds the next turns to the sums of their days and moves the mark behind them, in one statement. So each turn is added
 * once: only one process locks the mark, and if it dies the mark is unchanged. The turns end before the first running
 * one, since an added turn must not change any more. They begin with the first turn after the mark, so that idle time
 * needs no statements.
 */
const rollUpStatement = statement({}, () => {
  const { id, until } = usageRollups;
  const settled = sql`
    select least(
      now() - ${settlesSeconds} * interval '1 second',
      (select min(${turns.createdAt}) from ${turns} where ${isOpen(turns)})
    )::timestamptz(3) as at`;
  const next = (table: typeof turns | typeof toolCalls) => sql`
    select min(newest.created_at) as at from ${agents} cross join lateral (
      select ${table.createdAt} from ${table} where ${table.agentId} = ${agents.id} and ${table.createdAt} >= mark.until
      order by ${table.createdAt} limit 1
    ) newest`;
  return sql<{ behind: boolean; ahead: boolean }>`
    with mark as (
      select ${until} from ${usageRollups} where ${id} = 1 for no key update skip locked
    ), spans as materialized (
      select mark.until as begins, least(settled.at, turn.at + interval '1 hour', call.at + interval '1 hour') as ends,
        settled.at as settled
      from mark, lateral (${settled}) settled, lateral (${next(turns)}) turn, lateral (${next(toolCalls)}) call
    ), reached as (
      select ${agents.id} from ${agents}
    ), ${singles}, usage as (${addTo(usage)}), users as (${addTo(users)}), latency as (${addTo(latency)}),
    tools as (${addTo(toolUsage)}), moved as (
      update ${usageRollups} set ${assign(usageRollups, { until: sql`spans.ends` })} from spans
      where ${id} = 1 and spans.ends > ${until}
    )
    select ends < settled as behind, begins > now() as ahead from spans`;
});

/**
 * Resets a mark that is in the future because the clock was set back: otherwise new turns would never be added. The
 * sums from the current day on are made again. The current day is that of an hour ago, since a turn from before
 * midnight may be stored after it.
 */
const takeBackStatement = statement({}, () => {
  const { id, until } = usageRollups;
  const today = sql`((now() - interval '1 hour') at time zone 'UTC')::date`;
  const deleted = [usage, users, latency, toolUsage].map(({ table }, index) => {
    return sql`, ${sql.raw(`deleted_${index}`)} as (
      delete from ${table} where exists (select from mark) and ${table.day} >= ${today}
    )`;
  });
  return sql`
    with mark as (
      select ${until} from ${usageRollups} where ${id} = 1 and ${until} > now() for no key update skip locked
    )${sql.join(deleted)}
    update ${usageRollups} set ${assign(usageRollups, { until: sql`${today}::timestamp at time zone 'UTC'` })}
    where exists (select from mark)`;
});

/** Rolls up the next turns. Returns whether more are left; false also while another process rolls up. */
async function rollUpOnce({ database }: Pick<Services, "database">): Promise<boolean> {
  const [row] = await rollUpStatement.run(database, {});
  if (row?.ahead) await takeBackStatement.run(database, {});
  if (row) return row.behind || row.ahead;
  const begun = await database.db
    .insert(usageRollups)
    .values({ until: new Date(0) })
    .onConflictDoNothing()
    .returning({ id: usageRollups.id });
  return begun.length > 0;
}

/** Upkeep: rolls up turns every ten minutes. */
export function createRollUp(services: Services): () => Promise<void> {
  return every(services.clock, everyMs, async () => {
    for (let count = 0; count < mostStatements; count += 1) {
      if (!(await rollUpOnce(services))) return true;
    }
    return false;
  });
}
