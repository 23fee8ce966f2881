import { inArray, sql } from "drizzle-orm";
import type { Database, Db } from "../src/db/client.ts";

/** One step of a plan of PostgreSQL, as `explain` describes it. */
export interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Rows Removed by Filter"?: number;
  "Actual Rows": number;
  "Actual Loops": number;
  Plans?: PlanNode[];
}

/** A database that explains what it runs, and answers no rows. `scans` gives the steps on tables since its last call. */
export function explaining(database: Database): { database: Database; scans: () => PlanNode[] } {
  const plans: PlanNode[] = [];
  return {
    database: {
      ...database,
      async query(text, parameters) {
        const explain = `explain (analyze, format json) ${text}`;
        const [row] = await database.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(explain, parameters);
        plans.push(...(row?.["QUERY PLAN"].map(({ Plan }) => Plan) ?? []));
        return [];
      },
    },
    scans: () =>
      plans
        .splice(0)
        .flatMap(nodesOf)
        .filter((node) => node["Relation Name"] !== undefined),
  };
}

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** The rows of tables that a transaction has read, at times with those that earlier ones of its connection have. */
export async function rowsRead(tx: Db, tables: readonly string[]): Promise<number> {
  const [row] = await tx.execute<{ rows: number }>(sql`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
    where ${inArray(sql`relname`, [...tables])}`);
  return row?.rows ?? 0;
}
