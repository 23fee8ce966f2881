import { type Column, eq, getTableColumns, type SQL, type SQLWrapper, sql, type Table } from "drizzle-orm";
import { isUuid } from "../core/ids.ts";
import type { ValueType, ValueTypes } from "./statement.ts";

// Parts of the statements that `statement` compiles.

/** Whether a row has this id, which may be any text: only a UUID is one. */
export const hasId = (column: Column, id: string): SQL => (isUuid(id) ? eq(column, id) : sql`false`);

/** A column's name without its table, as `insert` and `on conflict` need it. */
export function column({ name }: Column): SQL {
  return sql`${sql.identifier(name)}`;
}

/** The value that a column would have had in the conflicting row. */
export function excluded(of: Column): SQL {
  return sql`excluded.${column(of)}`;
}

/** The type of a column in a statement's result: times and 64-bit integers are text. */
type ColumnResult<C extends Column> = C["_"]["columnType"] extends "PgBigInt53"
  ? string
  : C["_"]["data"] extends Date
    ? string
    : C["_"]["data"];

type AnsweredBy<F> =
  F extends SQL<infer T>
    ? T
    : F extends Column
      ? ColumnResult<F> | (F["_"]["notNull"] extends true ? never : null)
      : never;

/** A column of a source with at most one row, such as a `with`; null without a row. */
export function only<C extends Column>(of: C): SQL<ColumnResult<C> | null> {
  return sql<ColumnResult<C> | null>`(select ${of} from ${of.table})`;
}

/** A column that is null when an outer join finds no row. */
export function orNull<C extends Column>(of: C): SQL<ColumnResult<C> | null> {
  return sql<ColumnResult<C> | null>`${of}`;
}

type Fields = Readonly<Record<string, Column | SQL>>;

type RowOfFields<F extends Fields> = { -readonly [Name in keyof F]: AnsweredBy<F[Name]> };

/** The row type of a `fields` list. */
export type RowOf<F extends SQL> = F extends SQL<infer Row> ? Row : never;

/** A list for `select` or `returning`: columns and expressions under their names in the row. */
export function fields<const F extends Fields>(list: F): SQL<RowOfFields<F>> {
  return commaList(Object.entries(list).map(([name, field]) => sql`${field} as ${sql.identifier(name)}`));
}

/** A `fields` list as one JSON object. */
export function jsonObject<const F extends Fields>(list: F): SQL<RowOfFields<F>> {
  // Not as parameters: PostgreSQL would not know their type.
  const entries = Object.entries(list).map(([name, field]) => sql`${sql.raw(`'${name}'`)}, ${field}`);
  return sql<RowOfFields<F>>`json_build_object(${commaList(entries)})`;
}

/** Rows as one list for each field, in the rows' order; null without rows. */
export type ListsOf<Row> = { readonly [Name in keyof Row]: Row[Name][] | null };

/** The rows of a group as `ListsOf` in JSON: one object for each row would cost PostgreSQL twice as much. */
export function jsonLists<const F extends Fields>(list: F): SQL<ListsOf<RowOfFields<F>>> {
  const entries = Object.entries(list).map(([name, field]) => sql`${name}, json_agg(${field})`);
  return sql<ListsOf<RowOfFields<F>>>`json_build_object(${commaList(entries)})`;
}

/** Rebuilds the rows from `ListsOf`. */
export function rowsOf<Row extends object>(lists: ListsOf<Row>): Row[] {
  const columns = Object.entries(lists) as [keyof Row, Row[keyof Row][] | null][];
  const rows = (columns[0]?.[1] ?? []).map(() => ({}) as Row);
  for (const [name, values] of columns) {
    values?.forEach((value, index) => {
      const row = rows[index];
      if (row) row[name] = value;
    });
  }
  return rows;
}

type Shape = Readonly<Record<string, Column | ValueType>>;

/** A row for `jsonRows`. */
export type JsonRow<S extends Shape> = {
  readonly [Name in keyof S]: S[Name] extends ValueType ? ValueTypes[S[Name]] : AnsweredBy<S[Name]>;
};

/** Rows given as a JSON list: a table for `from`, and its columns under their names in the rows. */
export function jsonRows<const S extends Shape>(json: SQL, as: string, shape: S) {
  const names = Object.keys(shape).map((name) => [name, sql`${sql.identifier(as)}.${sql.identifier(name)}`]);
  const types = Object.entries(shape).map(([name, type]) => {
    return sql`${sql.identifier(name)} ${sql.raw(typeof type === "string" ? type : type.getSQLType())}`;
  });
  const table = sql`jsonb_to_recordset(${json}) as ${sql.identifier(as)}(${commaList(types)})`;
  return { table, row: Object.fromEntries(names) as { readonly [Name in keyof S]: SQL } };
}

type ColumnValue = SQLWrapper | string | number | boolean | null;

type Assignments<T extends Table> = { readonly [Name in keyof T["_"]["columns"]]?: ColumnValue };

/** `insert into … (columns) select expressions`; `from` or `on conflict` may follow. */
export function insertInto<T extends Table>(table: T, row: Assignments<T>): SQL {
  const cells = cellsOf(table, row);
  const names = commaList(cells.map(([name]) => name));
  const values = commaList(cells.map(([, value]) => sql`${value}`));
  return sql`insert into ${table} (${names}) select ${values}`;
}

/** The assignments after `set` in an update. */
export function assign<T extends Table>(table: T, row: Assignments<T>): SQL {
  return commaList(cellsOf(table, row).map(([name, value]) => sql`${name} = ${value}`));
}

function cellsOf<T extends Table>(table: T, row: Assignments<T>): (readonly [SQL, unknown])[] {
  const columns: Record<string, Column> = getTableColumns(table);
  return Object.entries(row).map(([key, value]) => {
    const target = columns[key];
    if (!target) throw new Error(`The table has no column ${key}`);
    return [column(target), value] as const;
  });
}

function commaList<T>(parts: SQL[]): SQL<T> {
  return sql<T>`${sql.join(parts, sql`, `)}`;
}

/**
 * A condition in SQL: a `jsonb` has at most `limit` bytes as JSON in UTF-8. PostgreSQL adds a space after each comma
 * and colon, which do not count, and writes all digits of a number, which count. Counting the spaces is slow, so it is
 * done only when they make the difference.
 */
export function jsonFits(value: SQL, limit: number): SQL {
  const text = sql`(${value})::text`;
  const withoutStrings = sql`regexp_replace(${text}, '"(\\\\.|[^"\\\\])*"', '', 'g')`;
  const spaces = sql`(select length(bare) - length(replace(bare, ' ', '')) from (select ${withoutStrings} as bare) b)`;
  return sql`(octet_length(${text}) <= ${limit} or octet_length(${text}) - ${spaces} <= ${limit})`;
}

/**
 * The earlier of two times: this process's clock (in milliseconds, or a value of the statement) and the database's
 * clock. Deletion by age uses it, since one process's clock may be fast.
 */
export function earlierNow(now: number | SQL): SQL {
  const at = typeof now === "number" ? sql`${new Date(now).toISOString()}::timestamptz` : now;
  return sql`least(now(), ${at})`;
}

/** Whether a time is more than `ms` milliseconds in the past, by both clocks. */
export function isPast(time: Column, now: number | SQL, ms = 0): SQL<boolean> {
  return sql`${time} < ${earlierNow(now)} - ${ms} * interval '1 millisecond'`;
}

/** Whether a row's time is before another time. */
export function isBefore(time: Column, limit: Date): SQL<boolean> {
  return sql`${time} < ${limit.toISOString()}::timestamptz`;
}
