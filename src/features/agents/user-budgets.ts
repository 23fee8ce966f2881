import { eq, sql } from "drizzle-orm";
import { monthOf } from "../../core/time/month.ts";
import type { Db } from "../../db/client.ts";
import { assign, column, excluded, insertInto } from "../../db/fragments.ts";
import { turns, userBudgetPeriods } from "../../db/schema.ts";

/**
 * Writes down what each end user of an agent took in this month, for a budget that begins in the middle of it. Later
 * turns find their own row, so that none of them has to sum up. A row of an earlier budget of the month has what was
 * charged with care, but not what was taken while there was none: the larger one counts.
 */
export async function beginUserBudgets(tx: Db, agentId: string, now: number): Promise<void> {
  const month = monthOf(now);
  const used = sql`coalesce(sum(${turns.promptTokens}::bigint + ${turns.completionTokens}), 0)`;
  const { agentId: agent, subject, month: ofMonth } = userBudgetPeriods;
  const larger = { used: sql`greatest(${userBudgetPeriods.used}, ${excluded(userBudgetPeriods.used)})` };
  await tx.execute(sql`
    ${insertInto(userBudgetPeriods, { agentId: turns.agentId, subject: turns.subject, month: sql`${month}::date`, used })}
    from ${turns} where ${eq(turns.agentId, agentId)} and ${turns.createdAt} >= ${month}::timestamp at time zone 'UTC'
    group by ${turns.agentId}, ${turns.subject}
    on conflict (${column(agent)}, ${column(subject)}, ${column(ofMonth)})
      do update set ${assign(userBudgetPeriods, larger)}`);
}
