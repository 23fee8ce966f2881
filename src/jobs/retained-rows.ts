import { type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Ctx, Services } from "../context/ctx.ts";
import { firstIdAt } from "../core/ids.ts";
import type { RetentionSubject } from "../core/retention.ts";
import { writeArray } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";

/** The age limit for an agent's rows. */
export interface AgeLimit {
  agentId: string;
  /** The present by the slower of two clocks (`earlierNow`). */
  now: Date;
  /** Older rows are deleted. */
  before: Date;
}

/** Old rows of an agent to delete, in a transaction. */
export interface Removal extends AgeLimit {
  ids: readonly string[];
  /** The author for the audit log. */
  by: Pick<Ctx, "actor" | "request">;
}

export interface Removed {
  rows: number;
  /** Called after the commit. */
  committed?(): void;
}

/** Rows that a retention policy deletes by age. */
export interface RetainedRows {
  subject: RetentionSubject;
  table: PgTable & { id: PgColumn };
  /**
   * Whether a row is old, needed by no open work, and not under legal hold. It reads other tables by scalar subqueries
   * only, which the planner can't turn into joins that read a table as a whole.
   */
  isOld(limit: AgeLimit): SQL;
  /**
   * The column of an index (agent, column) along which an agent's rows are read: a time or an id (UUIDv7), which is
   * never later than the time that makes the row old.
   */
  along: PgColumn;
  /** For rows that are found only by a parent row: `along` is of the parent's table, and this refers to the parent. */
  parentId?: PgColumn;
  /** Deletes rows that are still old; absent for a plain deletion. */
  remove?(tx: Db, services: Services, removal: Removal): Promise<Removed>;
  /** The most rows of one transaction; 500 when absent. */
  batchSize?: number;
}

type ReadRows = Pick<RetainedRows, "table" | "isOld" | "along" | "parentId">;

/** The most rows that one statement looks at: the embedded database is blocked meanwhile. */
const pageSize = 5_000;

/** Reads the ids of an agent's old rows, some with each statement. */
export async function* readOld(db: Db, rows: ReadRows, limit: AgeLimit): AsyncGenerator<readonly string[]> {
  let after: Position | null = null;
  do {
    const page: Page = await readPage(db, rows, limit, after);
    yield page.ids;
    after = page.read < pageSize ? null : page.last;
  } while (after !== null);
}

/** A position along the index. */
interface Position {
  at: string;
  id: string;
}

interface Page extends Record<string, unknown> {
  /** The number of rows that the statement looked at. */
  read: number;
  last: Position | null;
  ids: string[];
}

async function readPage(
  db: Db,
  { table, along, parentId, isOld }: ReadRows,
  limit: AgeLimit,
  after: Position | null,
): Promise<Page> {
  const { id, agentId } = along.table as PgTable & Record<"id" | "agentId", PgColumn>;
  const type = sql.raw(along.getSQLType());
  const byId = along.getSQLType() === "uuid";
  const end = byId ? firstIdAt(limit.before.getTime()) : limit.before.toISOString();
  const { at, id: afterId } = after ?? { at: byId ? firstIdAt(0) : "-infinity", id: firstIdAt(0) };
  const old = parentId
    ? sql`array(select ${table.id} from ${table} where ${parentId} = ${id} and ${isOld(limit)})`
    : sql`case when ${isOld(limit)} then array[${id}] else '{}'::uuid[] end`;
  const [page] = await db.execute<Page>(sql`
    with page as materialized (
      select ${along} as at, ${id} as id, ${old} as old from ${along.table}
      where ${agentId} = ${limit.agentId} and ${along} < ${end}::${type}
        and (${along}, ${id}) > (${at}::${type}, ${afterId}::uuid)
      order by ${along}, ${id} limit ${pageSize}
    )
    select (select count(*)::int from page) as read,
      (select json_build_object('at', at::text, 'id', id) from page order by page.at desc, page.id desc limit 1) as last,
      (select coalesce(json_agg(found), '[]') from page, unnest(old) found) as ids`);
  if (!page) throw new Error("The statement answered no row");
  return page;
}

/** Deletes the rows that are still old. */
export async function deleteOld(tx: Db, { table, isOld }: RetainedRows, { ids, ...limit }: Removal): Promise<Removed> {
  const gone = await tx
    .delete(table)
    .where(sql`${table.id} = any(${writeArray(ids)}::uuid[]) and ${isOld(limit)}`)
    .returning({ id: table.id });
  return { rows: gone.length };
}
