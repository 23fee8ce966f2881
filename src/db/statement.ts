import { is, Placeholder, type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { lazy } from "../core/lazy.ts";
import { writeArray } from "./arrays.ts";
import type { Parameter, Queries } from "./client.ts";

/** The PostgreSQL types of a statement's values, with their TypeScript types. JSON goes in as text. */
export interface ValueTypes {
  uuid: string;
  text: string;
  int: number;
  bigint: number;
  real: number;
  float8: number;
  boolean: boolean;
  date: string;
  timestamptz: string | Date;
  interval: string;
  jsonb: string;
  bytea: Uint8Array;
  tid: string;
  tsquery: string;
  vector: string;
  "uuid[]": readonly string[];
  "text[]": readonly string[];
}

export type ValueType = keyof ValueTypes;

/** The values of a statement by name, such as `{ turnId: "uuid", month: "date | null" }`. */
type DeclaredValues = Readonly<Record<string, ValueType | `${ValueType} | null`>>;

type ValueOf<T> = T extends `${infer V extends ValueType} | null`
  ? ValueTypes[V] | null
  : T extends ValueType
    ? ValueTypes[T]
    : never;

type ValuesOf<D extends DeclaredValues> = { readonly [Name in keyof D]: ValueOf<D[Name]> };

/** The placeholders of a statement's values. */
export type Values<D extends DeclaredValues> = { readonly [Name in keyof D]: SQL };

/** A statement of a hot path, written over the schema's columns and compiled once, at its first use. */
export interface Statement<Row, V> {
  /** Always the same string, since a connection finds its prepared statements by their text. */
  readonly text: string;
  /** The values in the order of their placeholders' numbers. */
  parameters(values: V): Parameter[];
  run(queries: Queries, values: V): Promise<Row[]>;
}

/**
 * Makes a statement. `write` is called once, with typed placeholders by name, and may use each any number of times.
 * Constants become literals, so that the planner sees them. Unused values are not sent. The first use throws for an
 * undeclared placeholder. `brief` as for the pool's `Run`.
 */
export function statement<const D extends DeclaredValues, Row>(
  declared: D,
  write: (values: Values<D>) => SQL<Row>,
  { brief = false }: { brief?: boolean } = {},
): Statement<Row, ValuesOf<D>> {
  const compiled = lazy(() => compile(declared, write));
  const parameters = (values: ValuesOf<D>) => inOrder(compiled(), values);
  return {
    get text() {
      return compiled().text;
    },
    parameters,
    run: (queries, values) => queries.query(compiled().text, parameters(values), brief) as Promise<never>,
  };
}

/** Makes one statement for each combination of parts, once; returns the statement for the given parts. */
export function variants<P extends Readonly<Record<keyof P, boolean>>, S>(make: (parts: P) => S): (parts: P) => S {
  const made = new Map<string, S>();
  return (parts) => {
    const key = Object.keys(parts)
      .filter((name) => parts[name as keyof P])
      .sort()
      .join(" ");
    const known = made.get(key) ?? make(parts);
    made.set(key, known);
    return known;
  };
}

interface CompiledStatement {
  text: string;
  /** The names of the values, in the order of their placeholders' numbers. */
  names: readonly string[];
  /** Whether each value is a list, in the order of `names`. */
  lists: readonly boolean[];
}

function compile<D extends DeclaredValues, Row>(
  declared: D,
  write: (values: Values<D>) => SQL<Row>,
): CompiledStatement {
  const types = Object.entries(declared).map(([name, type]) => [name, type.replace(" | null", "")] as const);
  const placeholders = types.map(([name, type]) => [name, sql`${sql.placeholder(name)}::${sql.raw(type)}`]);
  const names: string[] = [];
  const dialect = Object.assign(new PgDialect(), {
    /** A value used twice keeps its number. */
    escapeParam(_: number, parameter: unknown) {
      const name = is(parameter, Placeholder) ? parameter.name : "";
      if (!Object.hasOwn(declared, name)) throw new Error(`A statement has a value that it does not declare: ${name}`);
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    },
  });
  const text = write(Object.fromEntries(placeholders) as Values<D>);
  const query = dialect.sqlToQuery(sql`${text}`.inlineParams());
  return {
    text: withoutIndents(query.sql),
    names,
    lists: names.map((name) => declared[name]?.includes("[]") ?? false),
  };
}

/** The driver looks each statement up by its text; a shorter text costs less. */
const withoutIndents = (text: string) => text.replaceAll(/\n\s+/g, "\n").trim();

function inOrder({ names, lists }: CompiledStatement, values: Readonly<Record<string, Parameter>>): Parameter[] {
  return names.map((name, index) => {
    const value = values[name] ?? null;
    return lists[index] && value !== null ? writeArray(value as readonly string[]) : value;
  });
}
