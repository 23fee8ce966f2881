import { sql } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { every } from "../../../core/time/every.ts";
import { earlierNow } from "../../../db/fragments.ts";
import { userBudgetPeriods } from "../../../db/schema.ts";

const everyMs = 60 * 60 * 1000;

/**
 * Upkeep, once an hour: deletes end users' usage that is older than the previous month. A turn that began in that month
 * may still be charged to it.
 */
export function createEndedBudgets({ database, clock }: Services): () => Promise<void> {
  return every(clock, everyMs, async (now) => {
    const lastMonth = sql`date_trunc('month', ${earlierNow(now)} at time zone 'UTC') - interval '1 month'`;
    await database.db.delete(userBudgetPeriods).where(sql`${userBudgetPeriods.month} < ${lastMonth}`);
    return true;
  });
}
