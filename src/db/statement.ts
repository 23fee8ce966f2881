import { is, Placeholder, type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { writeArray } from "./arrays.ts";
import type { Database, Parameter } from "./client.ts";

/** The types that a value of a statement may have, and what stands for them in the program. JSON goes in as text. */
interface ValueTypes {
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

type ValueType = keyof ValueTypes;

/** The values of a statement by name, such as `{ turnId: "uuid", month: "date | null" }`. */
type Declared = Readonly<Record<string, ValueType | `${ValueType} | null`>>;

type ValueOf<T> = T extends `${infer V extends ValueType} | null`
  ? ValueTypes[V] | null
  : T extends ValueType
    ? ValueTypes[T]
    : never;

type ValuesOf<D extends Declared> = { readonly [Name in keyof D]: ValueOf<D[Name]> };

/** What stands for a statement's values in its text. */
export type Values<D extends Declared> = { readonly [Name in keyof D]: SQL };

/** A statement of the hot path: written over the schema's columns, compiled once, by its first use. */
export interface Statement<Row, V> {
  /** The same string each time, since a connection knows its prepared statements by their text. */
  readonly text: string;
  /** In the order of the text's numbers. */
  parameters(values: V): Parameter[];
  run(database: Pick<Database, "query">, values: V): Promise<Row[]>;
}

/**
 * `write` gets the declared values by name, each as a placeholder with its type, and may use one any number of times. It
 * is called once. Constants in the text become literals, so that the planner knows them. A declared value that the text
 * leaves out is not sent. The first use throws when the text has a placeholder that was not declared.
 */
export function statement<const D extends Declared, Row>(
  declared: D,
  write: (values: Values<D>) => SQL<Row>,
): Statement<Row, ValuesOf<D>> {
  let compiled: Compiled | undefined;
  const once = () => {
    compiled ??= compile(declared, write);
    return compiled;
  };
  const parameters = (values: ValuesOf<D>) => inOrder(once(), values);
  return {
    get text() {
      return once().text;
    },
    parameters,
    run: (database, values) => database.query(once().text, parameters(values)) as Promise<never>,
  };
}

interface Compiled {
  text: string;
  /** The names of its values by their numbers, the first one's first. */
  names: readonly string[];
  /** Which of them are lists. */
  lists: readonly boolean[];
}

function compile<D extends Declared, Row>(declared: D, write: (values: Values<D>) => SQL<Row>): Compiled {
  const types = Object.entries(declared).map(([name, type]) => [name, type.replace(" | null", "")] as const);
  const placeholders = types.map(([name, type]) => [name, sql`${sql.placeholder(name)}::${sql.raw(type)}`]);
  const names: string[] = [];
  const dialect = Object.assign(new PgDialect(), {
    /** A value that is used again keeps its number. */
    escapeParam(_: number, parameter: unknown) {
      const name = is(parameter, Placeholder) ? parameter.name : "";
      if (!Object.hasOwn(declared, name)) throw new Error(`A statement has a value that it does not declare: ${name}`);
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    },
  });
  const text = write(Object.fromEntries(placeholders) as Values<D>);
  const query = dialect.sqlToQuery(sql`${text}`.inlineParams());
  return { text: query.sql, names, lists: names.map((name) => declared[name]?.includes("[]") ?? false) };
}

function inOrder({ names, lists }: Compiled, values: Readonly<Record<string, Parameter>>): Parameter[] {
  return names.map((name, index) => {
    const value = values[name] ?? null;
    return lists[index] && value !== null ? writeArray(value as readonly string[]) : value;
  });
}
