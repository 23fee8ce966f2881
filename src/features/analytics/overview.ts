import { sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import { noConversation } from "../../db/schema.ts";
import { everyDay, requirePeriod } from "../../http/period.ts";
import { currencyOf } from "../providers/index.ts";
import { type Analytics, type AnalyticsQuery, mostListed } from "./schema.ts";
import { readWithin, type Scope } from "./scope.ts";
import { costs, type FilledBucket, latency, percentile, toolUsage, usage, users } from "./sums.ts";

/**
 * The figures of one agent, or of all reachable agents, in a period. Throws the 400 for a period that is too long or
 * ends before it begins, the 404 of the agent, and the 429 and the 503 of `BoundedReads`.
 */
export async function readAnalytics(
  ctx: Ctx,
  reads: BoundedReads,
  query: AnalyticsQuery,
  instanceId?: string,
): Promise<Analytics> {
  const period = requirePeriod(query, ctx.clock.now());
  const [currency, used, people, times, tools] = await readWithin(ctx, reads, { period, instanceId }, async (scope) => [
    await currencyOf(scope.tx, ctx.membership.organizationId),
    await readUsage(scope),
    await readPeople(scope),
    await readTimes(scope),
    await readTools(scope),
  ]);
  const { turns, messages, promptTokens, completionTokens, ...cost } = totalOf(used.days);
  const timesByDay = Map.groupBy(times.turn, ({ date }) => date);
  const days = used.days.map(({ date, turns, messages, promptTokens, completionTokens, costMicros, unpricedTurns }) => {
    const conversations = people.byDay.get(date) ?? 0;
    const took = timesByDay.get(date) ?? [];
    return {
      date,
      turns,
      tokens: promptTokens + completionTokens,
      costMicros,
      unpricedTurns,
      conversations,
      messages,
      latencyP50: percentile(took, 0.5),
      latencyP95: percentile(took, 0.95),
    };
  });
  const ofTurns = (share: number) => percentile(times.turn, share);
  return {
    currency,
    overview: {
      turns,
      conversations: people.conversations,
      messages,
      uniqueUsers: people.users,
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
      ...cost,
    },
    dailyTrend: everyDay(period, days, blankDay),
    channelDistribution: used.channels,
    modelDistribution: used.models.slice(0, mostListed),
    toolUsage: tools.slice(0, mostListed),
    latency: {
      p50: ofTurns(0.5),
      p95: ofTurns(0.95),
      p99: ofTurns(0.99),
      firstOutputP50: percentile(times["first-output"], 0.5),
    },
  };
}

const blankDay: Omit<Analytics["dailyTrend"][number], "date"> = {
  turns: 0,
  tokens: 0,
  costMicros: 0,
  unpricedTurns: 0,
  conversations: 0,
  messages: 0,
  latencyP50: null,
  latencyP95: null,
};

interface UsageRow extends Record<string, unknown> {
  date: string | null;
  channel: string | null;
  model: string | null;
  turns: number;
  messages: number;
  promptTokens: number;
  completionTokens: number;
  /** Null: no turn has a known cost. */
  costMicros: number | null;
  unpricedTurns: number;
}

async function readUsage({ tx, tables, rows }: Scope) {
  const found = await tx.execute<UsageRow>(sql`
    with ${tables}
    select day::text as date, channel, model, sum(turns)::float8 as turns, sum(messages)::float8 as messages,
      sum(prompt_tokens)::float8 as "promptTokens", sum(completion_tokens)::float8 as "completionTokens",
      ${costs}
    from (${rows(usage)}) r
    group by grouping sets ((day), (channel), (model)) order by 4 desc, 1, 2, 3`);
  const shares = <Name extends "channel" | "model">(name: Name) =>
    found.flatMap(({ [name]: of, turns, promptTokens, completionTokens, costMicros, unpricedTurns }) => {
      if (of === null) return [];
      const tokens = promptTokens + completionTokens;
      return [{ [name]: of, turns, tokens, costMicros, unpricedTurns } as Share<Name>];
    });
  const days = found.flatMap(({ date, ...row }) => (date === null ? [] : [{ ...row, date }]));
  return { days, channels: shares("channel"), models: shares("model") };
}

type Costs = Pick<UsageRow, "costMicros" | "unpricedTurns">;

type Share<Name extends string> = Record<Name, string> & { turns: number; tokens: number } & Costs;

type UsageCounts = Pick<UsageRow, "turns" | "messages" | "promptTokens" | "completionTokens"> & Costs;

function totalOf(days: readonly UsageCounts[]): UsageCounts {
  const sum = (of: (day: UsageCounts) => number) => days.reduce((all, day) => all + of(day), 0);
  return {
    turns: sum(({ turns }) => turns),
    messages: sum(({ messages }) => messages),
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    costMicros: days.length > 0 && days.every(({ costMicros }) => costMicros === null) ? null : sum(costOfDay),
    unpricedTurns: sum(({ unpricedTurns }) => unpricedTurns),
  };
}

const costOfDay = ({ costMicros }: UsageCounts) => costMicros ?? 0;

interface PeopleRow extends Record<string, unknown> {
  /** Null for the whole period. */
  date: string | null;
  conversations: number;
  users: number;
}

async function readPeople({ tx, tables, rows }: Scope) {
  const found = await tx.execute<PeopleRow>(sql`
    with ${tables}, pairs as materialized (select day, subject, conversation_id from (${rows(users)}) r)
    select day::text as date, count(*)::int as conversations, 0 as users
    from (select distinct day, conversation_id from pairs where conversation_id <> ${noConversation}::uuid) d group by day
    union all select null,
      (select count(*)::int from (select distinct conversation_id from pairs
        where conversation_id <> ${noConversation}::uuid) c),
      (select count(*)::int from (select distinct subject from pairs where subject <> '') s)`);
  const byDay = new Map(found.flatMap(({ date, conversations }) => (date === null ? [] : [[date, conversations]])));
  const { conversations, users: people } = found.find(({ date }) => date === null) ?? { conversations: 0, users: 0 };
  return { byDay, conversations, users: people };
}

interface TimeRow extends Record<string, unknown>, FilledBucket {
  date: string;
  measure: "turn" | "first-output";
}

async function readTimes({ tx, tables, rows }: Scope) {
  const found = await tx.execute<TimeRow>(sql`
    with ${tables}
    select day::text as date, measure, bucket, sum(turns)::float8 as count
    from (${rows(latency)}) r group by day, measure, bucket`);
  const of = (wanted: TimeRow["measure"]) => found.filter(({ measure }) => measure === wanted);
  return { turn: of("turn"), "first-output": of("first-output") };
}

interface ToolRow extends Record<string, unknown>, FilledBucket {
  tool: string;
  errors: number;
}

/** The tools with their figures, the most used first. */
async function readTools({ tx, tables, rows }: Scope): Promise<Analytics["toolUsage"]> {
  const found = await tx.execute<ToolRow>(sql`
    with ${tables}
    select tool, bucket, sum(calls)::float8 as count, sum(errors)::float8 as errors
    from (${rows(toolUsage)}) r group by tool, bucket order by tool`);
  const byTool = Map.groupBy(found, ({ tool }) => tool);
  const tools = [...byTool].map(([tool, buckets]) => ({
    tool,
    count: buckets.reduce((sum, { count }) => sum + count, 0),
    errors: buckets.reduce((sum, { errors }) => sum + errors, 0),
    p95: percentile(buckets, 0.95),
  }));
  return tools.sort((a, b) => b.count - a.count);
}
