import { sql } from "drizzle-orm";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { openDatabase } from "../../../src/db/client.ts";
import { usageRollups } from "../../../src/db/schema.ts";
import { addTo, latency, singles, toolUsage, usage, users } from "../../../src/features/analytics/sums.ts";
import { days } from "./fill.ts";

const deadlineMs = 600_000;

/** Sums up all turns until today, as the roll-up does, but a day with each statement; answers the seconds. */
export async function sumUp(url: string): Promise<number> {
  const begun = performance.now();
  const database = openDatabase({ url }, { max: 1, prepare: false, deadlineMs, clock: systemClock });
  for (let day = days; day > 0; day -= 1) {
    const at = (ago: number) => sql`date_trunc('day', now(), 'UTC') - ${ago} * interval '1 day'`;
    await database.db.execute(sql`
      with reached as (select id from agents), spans as materialized (
        select ${at(day)} as begins, ${at(day - 1)} as ends
      ), ${singles}, usage as (${addTo(usage)}), users as (${addTo(users)}), latency as (${addTo(latency)})
      ${addTo(toolUsage)}`);
  }
  const until = sql`date_trunc('day', now(), 'UTC')`;
  // The engine's own upkeep has made the row by now.
  await database.db
    .insert(usageRollups)
    .values({ until })
    .onConflictDoUpdate({ target: usageRollups.id, set: { until } });
  await database.db.execute(sql`analyze usage_daily, user_usage_daily, latency_daily, tool_usage_daily`);
  await database.close();
  return (performance.now() - begun) / 1000;
}
