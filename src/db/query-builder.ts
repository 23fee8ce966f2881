import { DrizzleQueryError, type Query } from "drizzle-orm";
import { NoopCache } from "drizzle-orm/cache/core";
import { PgDatabase, PgDialect, type PreparedQueryConfig, type SelectedFieldsOrdered } from "drizzle-orm/pg-core";
import { PostgresJsPreparedQuery, type PostgresJsQueryResultHKT, PostgresJsSession } from "drizzle-orm/postgres-js";
import type { Sql } from "postgres";
import type { Parameter, Rows } from "./pool/connection.ts";
import type { Run } from "./pool/pool.ts";

/** The query builder, inside or outside a transaction. */
export type Db = Omit<PgDatabase<PostgresJsQueryResultHKT>, "transaction">;

const dialect = new PgDialect();
const cache = new NoopCache();

/** A query builder whose statements `run` sends. They reject with the database's own errors. */
export const queryBuilder = (run: Run): Db => new PgDatabase(dialect, new Session(run), undefined);

/** Runs compiled statements. */
export interface Queries {
  /**
   * Runs one statement without Drizzle, for hot paths. JSON goes in as text, timestamps come out as text. `brief` as
   * for `Run`.
   */
  query<Row extends object>(text: string, parameters: readonly Parameter[], brief?: boolean): Promise<Row[]>;
}

/** Runs compiled statements in the transaction of a query builder. */
export function queriesOf(tx: Db): Queries {
  const { run } = tx._.session as Session;
  return { query: (text, parameters, brief) => run(text, parameters, "objects", brief) as Promise<never> };
}

type NoTables = Record<string, never>;

class Session extends PostgresJsSession<Sql, NoTables, NoTables> {
  readonly run: Run;

  constructor(run: Run) {
    super(clientOver(run), dialect, undefined);
    this.run = run;
  }

  override prepareQuery<T extends PreparedQueryConfig>(
    { sql, params }: Query,
    fields: SelectedFieldsOrdered | undefined,
    _name: string | undefined,
    asArrays: boolean,
    mapRows?: (rows: unknown[][]) => T["execute"],
  ) {
    return new Statement<T>(
      this.client,
      sql,
      params,
      this.logger,
      cache,
      undefined,
      undefined,
      fields,
      asArrays,
      false,
      mapRows,
    );
  }
}

class Statement<T extends PreparedQueryConfig> extends PostgresJsPreparedQuery<T> {
  /** Drizzle wraps each failure in an error whose message holds all parameters, which must not reach a log. */
  override async execute(values?: Record<string, unknown>): Promise<T["execute"]> {
    try {
      return await super.execute(values);
    } catch (error) {
      throw error instanceof DrizzleQueryError ? error.cause : error;
    }
  }
}

/**
 * A statement as Drizzle uses it: awaiting it runs it and returns rows as objects; `values()` returns them as arrays.
 */
interface PendingStatement extends PromiseLike<Rows> {
  values(): Promise<Rows>;
}

/** A stand-in for the postgres.js client that Drizzle expects. */
function clientOver(run: Run): Sql {
  const unsafe = (text: string, parameters: readonly Parameter[] = []): PendingStatement => ({
    // biome-ignore lint/suspicious/noThenProperty: this stands in for a postgres.js query, which is a thenable too.
    then: (onfulfilled, onrejected) => run(text, parameters, "objects").then(onfulfilled, onrejected),
    values: () => run(text, parameters, "arrays"),
  });
  return { unsafe } as unknown as Sql;
}
