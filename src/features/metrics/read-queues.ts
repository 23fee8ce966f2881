import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/client.ts";
import { fields } from "../../db/fragments.ts";
import { channels, eventBacklog, inbox, isOpen, jobs, outbox, toolCalls, turns } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";

/** The most rows of a queue that are counted: monitoring must not add to the load of a flood. */
const most = sql`100000`;

/** The work waiting in the database, of all agents. `seconds` is the age of the oldest item. */
export interface Queues {
  jobs: { kind: string; state: "due" | "waiting" | "running" | "failed"; count: number; seconds: number }[];
  outbox: { channel: string; count: number; seconds: number }[];
  inbox: { channel: string; count: number; seconds: number }[];
  backlog: { status: string; count: number }[];
  turns: { status: string; count: number }[];
  approvals: number;
  failingChannels: { channel: string; count: number; seconds: number }[];
}

export async function readQueues(database: Database, now: number): Promise<Queues> {
  const [queues] = await queuesStatement.run(database, { now: new Date(now) });
  if (!queues) throw new Error("The statement answered no row");
  return queues;
}

/** Each part reads a partial index of waiting work instead of the table. */
const queuesStatement = statement({ now: "timestamptz" }, ({ now }) => {
  const free = sql`${jobs.status} = 'pending' and ${jobs.lockedUntil} is null`;
  // A job that should run at once has been due since it was enqueued.
  const due = sql`select ${jobs.kind} as kind, case when ${jobs.runAt} <= ${now} then 'due' else 'waiting' end as state,
      greatest(${jobs.runAt}, ${jobs.createdAt}) as since
    from ${jobs} where ${free} order by ${jobs.runAt} limit ${most}`;
  const running = sql`select ${jobs.kind} as kind, 'running' as state, ${now} as since
    from ${jobs} where ${jobs.lockedUntil} is not null limit ${most}`;
  const failed = sql`select ${jobs.kind} as kind, 'failed' as state, ${now} as since
    from ${jobs} where ${jobs.status} = 'failed' limit ${most}`;
  const leaving = sql`select ${outbox.channel} as channel, ${outbox.createdAt} as since
    from ${outbox} where ${outbox.status} in ('pending', 'sending') limit ${most}`;
  const waiting = sql`select ${inbox.channel} as channel, ${inbox.createdAt} as since
    from ${inbox} where ${inbox.status} = 'pending' order by ${inbox.createdAt} limit ${most}`;
  const backlog = sql`select ${eventBacklog.status} as status
    from ${eventBacklog} where ${eventBacklog.status} in ('pending', 'processing') limit ${most}`;
  const open = sql`select ${turns.status} as status from ${turns} where ${isOpen(turns)} limit ${most}`;
  const undecided = sql`select 1 from ${toolCalls} where ${toolCalls.status} = 'pending' limit ${most}`;

  const failing = sql`select ${channels.type} as channel, coalesce(${channels.errorSince}, ${now}) as since
    from ${channels} where ${channels.enabled} and ${channels.status} = 'failing' limit ${most}`;

  const seconds = sql`greatest(0, extract(epoch from ${now} - min(rows.since)))::float8`;
  const row = fields({
    jobs: groups(sql`(${due}) union all (${running}) union all (${failed})`, ["kind", "state"], seconds),
    outbox: groups(leaving, ["channel"], seconds),
    inbox: groups(waiting, ["channel"], seconds),
    backlog: groups(backlog, ["status"]),
    turns: groups(open, ["status"]),
    failingChannels: groups(failing, ["channel"], seconds),
    approvals: sql`(select count(*)::float8 from (${undecided}) as rows)`,
  });
  return sql<Queues>`select ${row}`;
});

/**
 * The rows as a JSON list of groups by these columns, each with its `count` and, if given, the age of its oldest row.
 */
function groups(rows: SQL, by: readonly string[], seconds: SQL = sql`0`): SQL {
  const columns = sql.join(
    by.map((name) => sql.identifier(name)),
    sql`, `,
  );
  return sql`(select coalesce(json_agg(counted), '[]') from (
    select ${columns}, count(*)::float8 as count, ${seconds} as seconds from (${rows}) as rows group by ${columns}
  ) as counted)`;
}
