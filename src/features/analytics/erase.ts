import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { assign, column, excluded, insertInto } from "../../db/fragments.ts";
import { userUsageDaily } from "../../db/schema.ts";
import { type ErasedPerson, isSubject } from "../../jobs/erased-rows.ts";

/** The most rows of one statement. */
const batchSize = 5_000;

/** Adds the person's usage to that of unknown end users. Reads day by day, along the primary key. */
export async function eraseUsage({ database: { db } }: Services, person: ErasedPerson): Promise<void> {
  const { agentId, day, subject, conversationId } = userUsageDaily;
  for (const agent of person.agents) {
    const ofAgent = eq(agentId, agent.id);
    const edge = (order: SQL) => sql`(select ${day} from ${userUsageDaily} where ${ofAgent} order by ${order} limit 1)`;
    const summed = (one: (typeof added)[number]) => [one, sql`sum(${column(userUsageDaily[one])})`] as const;
    const merged = {
      agentId: sql`${agent.id}::uuid`,
      day: column(day),
      subject: sql`''`,
      conversationId: column(conversationId),
      ...Object.fromEntries(added.map(summed)),
    };
    const sums = Object.fromEntries(
      added.map((one) => [one, sql`${userUsageDaily[one]} + ${excluded(userUsageDaily[one])}`]),
    );
    for (let moved = batchSize; moved === batchSize; ) {
      person.signal.throwIfAborted();
      const [row] = await db.execute<{ moved: number }>(sql`
        with days as (
          select generate_series(${edge(sql`${day}`)}, ${edge(sql`${day} desc`)}, interval '1 day')::date as day
        ), found as materialized (
          select own.place from days cross join lateral (
            select ${userUsageDaily}.ctid as place from ${userUsageDaily}
            where ${and(ofAgent, eq(day, sql`days.day`), isSubject(subject, person, agent))} limit ${batchSize}
          ) own limit ${batchSize}
        ), gone as (
          delete from ${userUsageDaily} where ctid = any(array(select place from found)) returning *
        ), merged as (
          ${insertInto(userUsageDaily, merged)} from gone group by ${column(day)}, ${column(conversationId)}
          on conflict (${column(agentId)}, ${column(day)}, ${column(subject)}, ${column(conversationId)})
            do update set ${assign(userUsageDaily, sums)}
        )
        select count(*)::int as moved from gone`);
      moved = row?.moved ?? 0;
    }
  }
}

const added = ["turns", "promptTokens", "completionTokens", "costMicros", "priced"] as const;
