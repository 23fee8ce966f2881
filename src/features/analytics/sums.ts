import { type Column, getTableColumns, type SQL, sql, type Table } from "drizzle-orm";
import { column, excluded, insertInto } from "../../db/fragments.ts";
import {
  latencyDaily,
  noConversation,
  toolCalls,
  toolUsageDaily,
  turns,
  usageDaily,
  userUsageDaily,
} from "../../db/schema.ts";
import { longestCalledName } from "../../turn/step.ts";

/** The ratio between a bucket's end and its start: every time in a bucket is within 5 % of its middle. */
const growth = 1.1;

/** The bucket of a time in milliseconds; null for null. Times below one millisecond are in bucket -1. */
export function bucketOf(ms: SQL): SQL {
  return sql`case when ${ms} < 1 then -1 else floor(ln((${ms})::float8) / ln(${growth}::float8)) end::smallint`;
}

/** The middle of a bucket, in milliseconds. */
export function middleOf(bucket: number): number {
  return bucket < 0 ? 0 : Math.round(growth ** (bucket + 0.5));
}

/** A bucket and the number of durations in it. */
export interface FilledBucket {
  bucket: number;
  count: number;
}

/** The time in milliseconds that this share of all times does not exceed (by nearest rank); null without times. */
export function percentile(buckets: readonly FilledBucket[], share: number): number | null {
  const sorted = [...buckets].sort((a, b) => a.bucket - b.bucket);
  const all = sorted.reduce((sum, { count }) => sum + count, 0);
  let left = Math.max(1, Math.ceil(all * share));
  for (const { bucket, count } of sorted) {
    left -= count;
    if (left <= 0) return middleOf(bucket);
  }
  return null;
}

// The sums of turns and tool calls. The roll-up adds them to its tables; reads add up newer turns in the same way. A
// statement has the tables `reached` (agents, by `id`) and `spans` (periods from `begins` up to, not including, `ends`).

/** A table of sums, and how its rows are made from single turns or calls. */
export interface Sum {
  table: Table & { agentId: Column; day: Column };
  /** The columns that identify a row. */
  keys: Readonly<Record<string, SQL>>;
  sums: Readonly<Record<string, SQL>>;
  /** The single rows, for `from`. */
  singles: SQL;
}

/**
 * The rows of each agent separately, through an index that begins with the agent. `offset 0` keeps the planner from
 * scanning all rows, since it does not know how short a period is or how many rows there are now.
 */
const ofEach = (table: Table & { agentId: Column }, wanted: SQL) => sql`
  reached cross join lateral (
    select * from ${table} where ${table.agentId} = reached.id and ${wanted} offset 0
  ) ${table}`;

const within = (table: typeof turns | typeof toolCalls) => sql`
  from spans cross join
  ${ofEach(table, sql`${table.createdAt} >= spans.begins and ${table.createdAt} < spans.ends`)}`;

const utcDay = (of: Column) => sql`(${of} at time zone 'UTC')::date`;

/**
 * Whether a turn has a known end user. A request without `chat_id` and proven user has none, since its subject exists
 * only for it; nor have the Room, events, and tasks without a user.
 */
const hasUser = sql`not (
  ${turns.conversationId} is null and ${turns.messageCount} = 0
    and ${turns.subject} ~ '^conversation:[^:]+:web:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  or ${turns.channel} = 'room' or ${turns.channel} = 'scheduled' and ${turns.subject} ~ '^conversation:[^:]+:scheduled:')`;

/** The duration of a successful turn. */
const timeOf = (ms: Column) => sql`case when ${turns.status} in ('done', 'approval') then ${ms} end`;

/** For `with`: the single turns, and the single tool calls. Names that are too long for an index are shortened. */
export const singles = sql`counted as materialized (
  select ${turns.agentId}, ${utcDay(turns.createdAt)} as day, ${turns.channel},
    coalesce(${turns.provider} || ':' || ${turns.model}, 'unknown') as model,
    case when ${hasUser} then ${turns.subject} else '' end as subject,
    coalesce(${turns.conversationId}, ${noConversation}::uuid) as conversation_id,
    ${turns.messageCount} as messages, ${turns.promptTokens}, ${turns.completionTokens}, ${turns.costMicros},
    ${bucketOf(timeOf(turns.durationMs))} as turn_bucket, ${bucketOf(timeOf(turns.ttftMs))} as output_bucket
  ${within(turns)}
), called as materialized (
  select ${toolCalls.agentId}, ${utcDay(toolCalls.createdAt)} as day, left(${toolCalls.name}, ${longestCalledName}) as tool,
    ${bucketOf(sql`coalesce(${toolCalls.durationMs}, 0)`)} as bucket, ${toolCalls.status} = 'failed' as failed
  ${within(toolCalls)} where ${toolCalls.status} in ('executed', 'failed')
)`;

const ofDay = { agentId: sql`agent_id`, day: sql`day` };

const counts = {
  turns: sql`count(*)::int`,
  promptTokens: sql`sum(prompt_tokens)::bigint`,
  completionTokens: sql`sum(completion_tokens)::bigint`,
  costMicros: sql`coalesce(sum(cost_micros), 0)::bigint`,
  priced: sql`count(cost_micros)::int`,
};

/** The cost of a group of sums, and its turns without a known one. */
export const costs = sql`case when sum(priced) > 0 then sum(cost_micros)::float8 end as "costMicros",
  (sum(turns) - sum(priced))::float8 as "unpricedTurns"`;

export const usage: Sum = {
  table: usageDaily,
  keys: { ...ofDay, channel: sql`channel`, model: sql`model` },
  sums: { ...counts, messages: sql`sum(messages)::int` },
  singles: sql`counted`,
};

export const users: Sum = {
  table: userUsageDaily,
  keys: { ...ofDay, subject: sql`subject`, conversationId: sql`conversation_id` },
  sums: counts,
  singles: sql`counted`,
};

export const latency: Sum = {
  table: latencyDaily,
  keys: { ...ofDay, measure: sql`measure`, bucket: sql`bucket` },
  sums: { turns: sql`count(*)::int` },
  singles: sql`counted cross join lateral (
    values ('turn', turn_bucket), ('first-output', output_bucket)) measured(measure, bucket) where bucket is not null`,
};

export const toolUsage: Sum = {
  table: toolUsageDaily,
  keys: { ...ofDay, tool: sql`tool`, bucket: sql`bucket` },
  sums: { calls: sql`count(*)::int`, errors: sql`(count(*) filter (where failed))::int` },
  singles: sql`called`,
};

/** Adds up the single rows, to insert them or add them to existing sums. */
export function addTo({ table, keys, sums, singles }: Sum): SQL {
  const columns: Record<string, Column> = getTableColumns(table);
  const named = (names: object) => Object.keys(names).map((name) => columns[name] as Column);
  const conflict = sql.join(named(keys).map(column), sql`, `);
  const added = named(sums).map((of) => sql`${column(of)} = ${of} + ${excluded(of)}`);
  return sql`
    ${insertInto(table, { ...keys, ...sums })} from ${singles} group by ${sql.join(Object.values(keys), sql`, `)}
    on conflict (${conflict}) do update set ${sql.join(added, sql`, `)}`;
}

/** The rolled-up rows of these days together with the sums of the single rows, named as the table's columns. */
export function sumsOf({ table, keys, sums, singles }: Sum, days: { from: string; to: string } | null): SQL {
  const columns: Record<string, Column> = getTableColumns(table);
  const made = Object.entries({ ...keys, ...sums });
  const named = made.map(([name, value]) => sql`${value} as ${column(columns[name] as Column)}`);
  const fresh = sql`
    select ${sql.join(named, sql`, `)} from ${singles} group by ${sql.join(Object.values(keys), sql`, `)}`;
  if (days === null) return fresh;
  const stored = made.map(([name]) => columns[name] as Column);
  return sql`
    select ${sql.join(stored, sql`, `)}
    from ${ofEach(table, sql`${table.day} >= ${days.from}::date and ${table.day} < ${days.to}::date`)}
    union all ${fresh}`;
}
