import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context/ctx.ts";
import { shownSubject } from "../../core/channels/subjects.ts";
import type { BoundedReads } from "../../db/bounded-reads.ts";
import { agents } from "../../db/schema.ts";
import { everyDay, requirePeriod } from "../../http/period.ts";
import { currencyOf } from "../providers/index.ts";
import type { UsagePage, UsageQuery, UsageRow } from "./schema.ts";
import { readWithin, type Scope } from "./scope.ts";
import { costs, usage, users } from "./sums.ts";

/**
 * The tokens and costs of the reachable agents, or of one of them, in a period: a page of agents, end users, models or
 * days. Throws the 400 for a period that is too long or ends before it begins, the 404 of the agent, and the 429 and the
 * 503 of `BoundedReads`.
 */
export async function readTokens(ctx: Ctx, reads: BoundedReads, query: UsageQuery): Promise<UsagePage> {
  const { by, instanceId, limit = 50, offset = 0 } = query;
  const period = requirePeriod(query, ctx.clock.now());
  return readWithin(ctx, reads, { period, instanceId }, async (scope) => {
    const currency = await currencyOf(scope.tx, ctx.membership.organizationId);
    if (by === "day") {
      const days = everyDay(period, await readDays(scope), none);
      return { currency, usage: days.slice(offset, offset + limit), total: days.length, limit, offset };
    }
    const { usage: found, total } = await readPage(scope, groupsBy[by](scope), { limit, offset });
    return { currency, usage: by === "user" ? found.map(withUser) : found, total, limit, offset };
  });
}

const none: Omit<Day, "date"> = {
  turns: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalTokens: 0,
  costMicros: 0,
  unpricedTurns: 0,
};

/** The sums of a group of rows. */
const counts = sql`sum(turns)::float8 as turns, sum(prompt_tokens)::float8 as "promptTokens",
  sum(completion_tokens)::float8 as "completionTokens",
  (sum(prompt_tokens) + sum(completion_tokens))::float8 as "totalTokens", ${costs}`;

type Day = UsageRow & { date: string };

async function readDays({ tx, tables, rows }: Scope): Promise<Day[]> {
  return tx.execute<Day & Record<string, unknown>>(
    sql`with ${tables} select day::text as date, ${counts} from (${rows(usage)}) r group by day`,
  );
}

const byAgent = ({ rows }: Scope) => sql`
  select ${agents.slug} as "instanceId", ${agents.name} as "instanceName", grouped.turns, "promptTokens",
    "completionTokens", "totalTokens", "costMicros", "unpricedTurns", ${agents.slug} as name
  from (select agent_id, ${counts} from (${rows(usage)}) r group by agent_id) grouped
  join ${agents} on ${agents.id} = grouped.agent_id`;

const byUser = ({ rows }: Scope) => sql`
  select subject as user, ${counts}, subject as name from (${rows(users)}) r group by subject`;

const byModel = ({ rows }: Scope) => sql`
  select model, ${counts}, model as name from (${rows(usage)}) r group by model`;

const groupsBy = { agent: byAgent, user: byUser, model: byModel };

/** Converts a row's `user` from a key to its public form. */
function withUser({ user, ...row }: UsageRow): UsageRow {
  const { subject, subjectChannel } = shownSubject(user ?? "");
  return { user: subjectChannel === null ? null : subject, userChannel: subjectChannel, ...row };
}

interface UsagePageRow extends Record<string, unknown> {
  total: number;
  usage: UsageRow[] | null;
}

/** Reads a page. `groups` has a `name`, by which groups with equal tokens are ordered. */
async function readPage({ tx, tables }: Scope, groups: SQL, { limit, offset }: { limit: number; offset: number }) {
  const [page] = await tx.execute<UsagePageRow>(sql`
    with ${tables}, groups as materialized (${groups}), listed as (
      select groups.*, row_number() over (order by "totalTokens" desc, name) as place
      from groups order by place limit ${limit} offset ${offset}
    )
    select (select count(*)::int from groups) as total,
      (select jsonb_agg(to_jsonb(listed) - 'name' - 'place' order by place) from listed) as usage`);
  return { usage: page?.usage ?? [], total: page?.total ?? 0 };
}
