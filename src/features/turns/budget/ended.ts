import { lt } from "drizzle-orm";
import type { Services } from "../../../context.ts";
import { monthOf } from "../../../core/time/month.ts";
import { userBudgetPeriods } from "../../../db/schema.ts";

const everyMs = 60 * 60 * 1000;

/**
 * Upkeep: deletes what end users took in months before the last one, once an hour. A turn that began in the last month may
 * still have to be charged there.
 */
export function createEndedBudgets({ database, clock }: Services): () => Promise<void> {
  let dueAt = 0;
  return async () => {
    const now = clock.now();
    if (now < dueAt) return;
    const lastMonth = monthOf(Date.parse(monthOf(now)) - 1);
    await database.db.delete(userBudgetPeriods).where(lt(userBudgetPeriods.month, lastMonth));
    dueAt = now + everyMs;
  };
}
