import { systemClock } from "../../../src/adapters/node/clock.ts";
import { type Database, openDatabase } from "../../../src/db/client.ts";
import type { Executed } from "../tap.ts";

/** The work of PostgreSQL for some statements. */
export interface Work {
  ms: number;
  /** Rows read from tables and indexes, and blocks of 8 KiB, wherever they were. */
  rows: number;
  blocks: number;
}

interface PlanNode {
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: PlanNode[];
}

interface Explained {
  "QUERY PLAN": [{ Plan: PlanNode; "Execution Time": number; "Planning Time": number }];
}

/** Longer than any deadline of the engine, so that what exceeds one is measured too. */
const deadlineMs = 600_000;

/** Runs statements again that were heard on the wire, explained, and takes back what they changed. */
export class Explainer {
  readonly #database: Database;

  constructor(url: string) {
    this.#database = openDatabase({ url }, { max: 1, prepare: false, deadlineMs, clock: systemClock });
  }

  /** The work of all of them, one after the other, each by itself. */
  async sum(executed: readonly Executed[]): Promise<Work> {
    const total = { ms: 0, rows: 0, blocks: 0 };
    for (const one of executed.filter(isExplained)) {
      const { ms, rows, blocks } = await this.once(one);
      total.ms += ms;
      total.rows += rows;
      total.blocks += blocks;
    }
    return total;
  }

  async once({ text, parameters }: Executed): Promise<Work> {
    await this.#database.query("begin", []);
    try {
      const explain = `explain (analyze, buffers, timing off, format json) ${text}`;
      const [row] = await this.#database.query<Explained>(explain, parameters);
      const [found] = row?.["QUERY PLAN"] ?? [];
      if (!found) throw new Error(`No plan of ${text}`);
      return { ms: found["Execution Time"] + found["Planning Time"], ...readBy(found.Plan) };
    } finally {
      await this.#database.query("rollback", []);
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

/** Not what begins and ends transactions, or listens. */
const isExplained = ({ text }: Executed) => /^\s*(with|select|insert|update|delete)\b/i.test(text);

/** The blocks of a step include those of its parts. */
function readBy(plan: PlanNode): Pick<Work, "rows" | "blocks"> {
  const blocks = (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
  return { rows: rowsOf(plan), blocks };
}

function rowsOf({ "Actual Rows": rows, "Actual Loops": loops, Plans = [], ...node }: PlanNode): number {
  const vain = (node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Index Recheck"] ?? 0);
  const own = node["Relation Name"] === undefined ? 0 : (rows + vain) * loops;
  return Plans.reduce((sum, part) => sum + rowsOf(part), own);
}
