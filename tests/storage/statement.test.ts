import { inArray, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  assign,
  column,
  excluded,
  fields,
  insertInto,
  type JsonRow,
  jsonLists,
  jsonObject,
  jsonRows,
  only,
  orNull,
  type RowOf,
  rowsOf,
} from "../../src/db/fragments.ts";
import { budgetPeriods, throttles, turns } from "../../src/db/schema.ts";
import { statement } from "../../src/db/statement.ts";
import { onDatabase } from "./setup.ts";

describe("a statement", () => {
  test("numbers its values by their first use, once each", () => {
    const { text, parameters } = statement({ a: "int", b: "text | null" }, ({ a, b }) => sql`${b}, ${a}, ${b}`);
    expect(text).toBe("$1::text, $2::int, $1::text");
    expect(parameters({ a: 1, b: "x" })).toEqual(["x", 1]);
    expect(parameters({ a: 0, b: null })).toEqual([null, 0]);
  });

  test("is written once, by its first use", () => {
    let written = 0;
    const once = statement({ id: "uuid" }, ({ id }) => {
      written += 1;
      return sql`select ${turns.ticket} from ${turns} where ${turns.id} = ${id}`;
    });
    expect(written).toBe(0);
    expect(once.text).toBe('select "turns"."ticket" from "turns" where "turns"."id" = $1::uuid');
    expect(once.text).toBe(once.text);
    once.parameters({ id: "a" });
    expect(written).toBe(1);
  });

  test("has constants as literals, those of the builder's conditions too", () => {
    const { text, parameters } = statement({}, () => {
      const open = inArray(turns.status, ["queued", "running"]);
      return sql`select ${1}, ${"it's"}, ${null}, ${true} from ${turns} where ${open}`;
    });
    expect(text).toBe(`select 1, 'it''s', null, true from "turns" where "turns"."status" in ('queued', 'running')`);
    expect(parameters({})).toEqual([]);
  });

  test("does not send a value that its text leaves out", () => {
    const { text, parameters } = statement({ a: "int", b: "int" }, ({ b }) => sql`select ${b}`);
    expect(text).toBe("select $1::int");
    expect(parameters({ a: 1, b: 2 })).toEqual([2]);
  });

  test("refuses a placeholder that it does not declare", () => {
    const { parameters } = statement({ a: "int" }, () => sql`select ${sql.placeholder("b")}`);
    expect(() => parameters({ a: 1 })).toThrow("A statement has a value that it does not declare: b");
  });

  test("binds lists as PostgreSQL writes them", async () => {
    const database = await onDatabase();
    const names = statement(
      { names: "text[]", ids: "uuid[]" },
      ({ names, ids }) =>
        sql<{ names: string[]; count: number }>`select ${names} as names, cardinality(${ids}) as count`,
    );
    const odd = ['"', "a,b", "\\", "", "null"];
    expect(await names.run(database, { names: odd, ids: [] })).toEqual([{ names: odd, count: 0 }]);
  });

  test("does not compile with a value that is missing, misspelt or of another type", () => {
    const { parameters } = statement({ a: "int", b: "text | null" }, ({ a, b }) => sql`${a} ${b}`);
    // @ts-expect-error
    parameters({ a: 1 });
    // @ts-expect-error
    parameters({ a: 1, b: null, c: 1 });
    // @ts-expect-error
    parameters({ a: "1", b: null });
    // @ts-expect-error
    parameters({ a: null, b: null });
    // @ts-expect-error
    statement({ a: "int" }, ({ b }) => sql`${b ?? ""}`);
    // @ts-expect-error
    statement({ a: "integer" }, () => sql``);
  });
});

describe("fragments", () => {
  const textOf = (fragment: SQL) => statement({}, () => fragment).text;

  test("give the row that they select", () => {
    const t = alias(turns, "t");
    const row = fields({
      id: t.id,
      budgetMonth: t.budgetMonth,
      finishedAt: t.finishedAt,
      dead: sql<boolean>`now() > now()`,
    });
    expect(textOf(row)).toBe(
      `"t"."id" as "id", "t"."budget_month" as "budgetMonth", "t"."finished_at" as "finishedAt", now() > now() as "dead"`,
    );
    type Row = { id: string; budgetMonth: string | null; finishedAt: string | null; dead: boolean };
    expectTypeOf<RowOf<typeof row>>().toEqualTypeOf<Row>();
    // The driver answers integers of 64 bits as text.
    const period = fields({ used: budgetPeriods.used, month: orNull(budgetPeriods.month) });
    expectTypeOf<RowOf<typeof period>>().toEqualTypeOf<{ used: string; month: string | null }>();
  });

  test("name the columns of what they write", () => {
    expect(textOf(column(turns.leaseUntil))).toBe(`"lease_until"`);
    expect(textOf(assign(turns, { status: "lost", finishedAt: sql`now()`, idempotencyKey: null }))).toBe(
      `"status" = 'lost', "finished_at" = now(), "idempotency_key" = null`,
    );
    expect(textOf(insertInto(throttles, { key: "a", count: 1, resetsAt: sql`now()` }))).toBe(
      `insert into "throttles" ("key", "count", "resets_at") select 'a', 1, now()`,
    );
  });

  test("read the one row of a table, and write JSON", () => {
    const one = alias(turns, "one");
    expect(textOf(only(one.ticket))).toBe(`(select "one"."ticket" from "one")`);
    expectTypeOf<RowOf<ReturnType<typeof only<typeof one.ticket>>>>().toEqualTypeOf<number | null>();
    const json = jsonObject({ id: one.id, budgetMonth: one.budgetMonth });
    expect(textOf(json)).toBe(`json_build_object('id', "one"."id", 'budgetMonth', "one"."budget_month")`);
    expectTypeOf<RowOf<typeof json>>().toEqualTypeOf<{ id: string; budgetMonth: string | null }>();
    expect(textOf(excluded(throttles.resetsAt))).toBe(`excluded."resets_at"`);
  });

  test("take rows as JSON, under the names that the program has them by", async () => {
    const database = await onDatabase();
    const shape = { key: throttles.key, place: "int", resetsAt: throttles.resetsAt } as const;
    type Row = { readonly key: string; readonly place: number; readonly resetsAt: string };
    expectTypeOf<JsonRow<typeof shape>>().toEqualTypeOf<Row>();
    const insert = statement({ rows: "jsonb" }, ({ rows }) => {
      const { table, row } = jsonRows(rows, "given", shape);
      const { key, resetsAt, place } = row;
      return sql`${insertInto(throttles, { key, resetsAt, count: sql`${place} + 1` })} from ${table}`;
    });
    const moment = "2026-01-02T03:04:05.678Z";
    const rows: Row[] = [1, 2].map((place) => ({ key: `"${place}`, place, resetsAt: moment }));
    await insert.run(database, { rows: JSON.stringify(rows) });
    const stored = rows.map(({ key, place }) => ({ key, count: place + 1, resetsAt: new Date(moment) }));
    expect(await database.db.select().from(throttles).orderBy(throttles.count)).toEqual(stored);
  });

  test("give rows as lists in JSON", async () => {
    const database = await onDatabase();
    const lists = jsonLists({ place: sql<number>`place`, half: sql<number | null>`nullif(place, 2) * 0.5` });
    const read = statement({ last: "int" }, ({ last }) => {
      return sql<{ lists: RowOf<typeof lists> }>`select ${lists} as lists from generate_series(1, ${last}) as place`;
    });
    const rows = async (last: number) => (await read.run(database, { last })).flatMap((row) => rowsOf(row.lists));
    expectTypeOf(rows).returns.resolves.toEqualTypeOf<{ place: number; half: number | null }[]>();
    expect(await rows(3)).toEqual([1, 2, 3].map((place) => ({ place, half: place === 2 ? null : place / 2 })));
    expect(await rows(0)).toEqual([]);
  });

  test("do not compile with a column that there is not", () => {
    // @ts-expect-error
    expect(() => assign(turns, { state: "lost" })).toThrow("The table has no column state");
    // @ts-expect-error
    expect(() => insertInto(throttles, { keys: "a" })).toThrow("The table has no column keys");
    // @ts-expect-error
    expect(() => sql`${turns.state}`).not.toThrow();
  });
});
