import type { Database } from "../../src/db/client.ts";

export type Row = Record<string, unknown>;

/** Every row of the database by table and primary key. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<string, Row>>;

export interface Change {
  table: string;
  /** Null: the row is new. */
  before: Row | null;
  /** Null: the row was deleted. */
  after: Row | null;
  /** The columns whose values differ; none for an added or deleted row. */
  columns: string[];
}

/** Every route counts its calls. */
const skipped = new Set(["throttles"]);

/** Reads the whole database, which is small in tests. */
export async function takeSnapshot(database: Database): Promise<Snapshot> {
  const keys = await database.query<{ name: string; columns: string }>(
    `select c.relname as name, string_agg(a.attname, ',') as columns
     from pg_index i
     join pg_class c on c.oid = i.indrelid
     join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
     join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where i.indisprimary group by c.relname order by c.relname`,
    ["public"],
  );
  const tables = keys.filter(({ name }) => !skipped.has(name));
  const selects = tables.map(({ name }) => `select '${name}' as name, to_jsonb(t)::text as row from "${name}" t`);
  const rows = await database.query<{ name: string; row: string }>(selects.join(" union all "), []);
  const snapshot = new Map(tables.map(({ name }) => [name, new Map<string, Row>()]));
  const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns.split(",")]));
  for (const { name, row } of rows) {
    const parsed = JSON.parse(row) as Row;
    const key = columnsOf.get(name)?.map((column) => String(parsed[column]));
    snapshot.get(name)?.set(JSON.stringify(key), parsed);
  }
  return snapshot;
}

/** The differences, row by row. */
export function compare(before: Snapshot, after: Snapshot): Change[] {
  const changes: Change[] = [];
  for (const [table, now] of after) {
    const then = before.get(table) ?? new Map<string, Row>();
    for (const [key, row] of now) {
      const old = then.get(key);
      if (!old) changes.push({ table, before: null, after: row, columns: [] });
      else if (JSON.stringify(old) !== JSON.stringify(row)) {
        const columns = Object.keys(row).filter((name) => JSON.stringify(row[name]) !== JSON.stringify(old[name]));
        changes.push({ table, before: old, after: row, columns });
      }
    }
    for (const [key, row] of then) if (!now.has(key)) changes.push({ table, before: row, after: null, columns: [] });
  }
  return changes;
}
