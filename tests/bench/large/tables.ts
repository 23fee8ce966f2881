import type { Sides } from "./databases.ts";

const shown = 12;

export const tablesHead = [
  "Table",
  "Rows",
  "Rows, MiB",
  "Indexes, MiB",
  "Bytes a row with its indexes",
  "Vacuum, s",
  "Analyze, s",
];

/** The largest tables, and how long their upkeep by PostgreSQL takes. */
export async function measureTables({ large: { sql } }: Sides): Promise<string[][]> {
  const found = await sql<{ name: string; rows: number; heap: number; indexes: number }[]>`
    select relname as name, greatest(reltuples, 0)::float8 as rows, pg_table_size(oid)::float8 as heap,
      pg_indexes_size(oid)::float8 as indexes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
    order by pg_total_relation_size(oid) desc limit ${shown}`;
  const rows: string[][] = [];
  for (const { name, rows: count, heap, indexes } of found) {
    const seconds = [
      await secondsOf(() => sql.unsafe(`vacuum ${name}`)),
      await secondsOf(() => sql.unsafe(`analyze ${name}`)),
    ];
    rows.push([
      `\`${name}\``,
      Math.round(count).toLocaleString("en"),
      mebibytes(heap),
      mebibytes(indexes),
      ((heap + indexes) / Math.max(1, count)).toFixed(0),
      ...seconds.map((value) => value.toFixed(1)),
    ]);
  }
  return rows;
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20).toLocaleString("en");

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
