import { inArray, sql } from "drizzle-orm";
import type { Database, Db } from "../src/db/client.ts";

/** One step of a plan of PostgreSQL, as `explain` describes it. */
interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Actual Rows": number;
  "Actual Loops": number;
  Plans?: PlanNode[];
}

/**
 * How a statement reads a table at one place. Tests check this and never the kind of a step: the planner chooses
 * between scans of the same index by figures that differ from machine to machine.
 */
export interface Access {
  /** Empty when the table is read as a whole. */
  indexes: string[];
  /** The number of rows read, and of those read in vain. */
  read: number;
  inVain: number;
}

/** A database that explains its statements, and answers no rows. `reads` shows how all of them read a table. */
export function explaining(database: Database): { database: Database; reads: (table: string) => Access[] } {
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
    reads: (table) => plans.flatMap((plan) => accesses(plan, table)),
  };
}

/** How PostgreSQL's generic plan of a statement reads a table: the indexes at each place. */
export async function keptIndexes(database: Database, text: string, table: string): Promise<string[][]> {
  const [row] = await database.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (generic_plan, format json) ${text}`,
    [],
  );
  return (row?.["QUERY PLAN"] ?? []).flatMap(({ Plan }) => accesses(Plan, table)).map(({ indexes }) => indexes);
}

/** A step that writes to the table names it too. */
const accesses = (plan: PlanNode, table: string): Access[] =>
  nodesOf(plan)
    .filter((node) => node["Relation Name"] === table && node["Node Type"] !== "ModifyTable")
    .map((node) => {
      const vain = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
      const inVain = vain * node["Actual Loops"];
      return { indexes: indexesOf(node), inVain, read: node["Actual Rows"] * node["Actual Loops"] + inVain };
    });

/** A bitmap of the rows of a table is made of one index or several by steps below. */
const indexesOf = (node: PlanNode): string[] => {
  const own = node["Index Name"] === undefined ? [] : [node["Index Name"]];
  return node["Node Type"] === "Bitmap Heap Scan" ? nodesOf(node).flatMap((one) => one["Index Name"] ?? []) : own;
};

const nodesOf = (plan: PlanNode): PlanNode[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

/** Any index of memories that begins with agent and subject. */
export const ofSubjects = /^memories_(?:important|digest)$/;

export const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** Counts the rows of tables that a transaction reads from now on. */
export async function countReads(tx: Db, tables: readonly string[]): Promise<() => Promise<number>> {
  const before = await rowsCounted(tx, tables);
  return async () => (await rowsCounted(tx, tables)) - before;
}

/** PostgreSQL counts per connection: the rows that earlier transactions read are included for a while. */
async function rowsCounted(tx: Db, tables: readonly string[]): Promise<number> {
  const [row] = await tx.execute<{ rows: number }>(sql`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
    where ${inArray(sql`relname`, [...tables])}`);
  return row?.rows ?? 0;
}
