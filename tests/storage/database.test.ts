import { inspect } from "node:util";
import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../src/core/errors.ts";
import { newId } from "../../src/core/ids.ts";
import { sqlState } from "../../src/db/client.ts";
import { organizations, throttles, users } from "../../src/db/schema.ts";
import { onDatabase } from "./setup.ts";

const organization = (slug: string) => ({ id: newId(), slug, name: slug });

describe("statements", () => {
  test("many at once over two tables never mix their rows", async () => {
    const { db, query } = await onDatabase();
    const rows = Array.from({ length: 40 }, (_, index) => index);
    await db.insert(organizations).values(rows.map((index) => organization(`org-${index}`)));
    await db
      .insert(throttles)
      .values(rows.map((index) => ({ key: `key-${index}`, count: index, resetsAt: new Date(0) })));

    const checks = Array.from({ length: 800 }, async (_, round) => {
      const index = round % rows.length;
      if (round % 4 === 0) {
        const [row] = await db
          .select()
          .from(organizations)
          .where(sql`${organizations.slug} = ${`org-${index}`}`);
        return row?.slug === `org-${index}`;
      }
      if (round % 4 === 1) {
        const [row] = await db
          .select()
          .from(throttles)
          .where(sql`${throttles.key} = ${`key-${index}`}`);
        return row?.count === index;
      }
      if (round % 4 === 2) {
        const [row] = await query<{ count: number }>("select count from throttles where key = $1", [`key-${index}`]);
        return row?.count === index;
      }
      const [row] = await query<{ name: string }>("select name from organizations where slug = $1", [`org-${index}`]);
      return row?.name === `org-${index}`;
    });
    expect((await Promise.all(checks)).filter((right) => !right)).toEqual([]);
  });

  test("each kind of value comes back as it went in", async () => {
    const { query } = await onDatabase();
    const at = new Date("2026-02-03T04:05:06.789Z");
    const lists = ['a"b', "c,d", "", "{}", "null", "NULL", "\\", 'x\\"', " ", "line\nbreak", "é👋"];
    const [row] = await query(
      `select $1::text as text, $2::int as number, $3::boolean as flag, $4::bytea as bytes, $5::timestamptz(3) as at,
        $6::text[] as list, array[null, 'a'] as gaps, $7::jsonb as json, $8::text as nothing, $9::uuid[] as ids`,
      ["Grüße 👋", -7, true, Uint8Array.of(0, 255), at, lists, '{"deep":[1,null]}', null, []],
    );
    expect(row).toEqual({
      text: "Grüße 👋",
      number: -7,
      flag: true,
      bytes: Buffer.from([0, 255]),
      at: "2026-02-03 04:05:06.789+00",
      list: lists,
      gaps: [null, "a"],
      json: { deep: [1, null] },
      nothing: null,
      ids: [],
    });
  });

  test("a failure is the database's own, without the row's values, and the next statement works", async () => {
    const { db, query } = await onDatabase();
    await db.insert(users).values({ email: "ada@example.com", name: "Ada" });
    const again = db.insert(users).values({ email: "ada@example.com", name: "Eve", passwordHash: "top-secret" });
    const error = await again.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(sqlState(error)).toBe("23505");
    expect(JSON.stringify(error) + String(error)).not.toMatch(/top-secret|ada@example/);
    await expect(query("select 1 / ($1::int - 1)", [1])).rejects.toMatchObject({ code: "22012" });
    expect(await query("select 1 as one", [])).toEqual([{ one: 1 }]);
  });

  test("a failure of the query builder is the database's own, and holds no value of the row", async () => {
    const { db } = await onDatabase();
    await db.insert(organizations).values(organization("private"));
    const twice = db.insert(organizations).values(organization("private"));
    const failure: unknown = await twice.catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "PostgresError", code: "23505" });
    expect(inspect(failure)).not.toContain("private");
  });

  test("a text that nests too deep fails alone", async () => {
    const { query } = await onDatabase();
    const deep = "[".repeat(200_000) + "]".repeat(200_000);
    const [failed, other] = await Promise.allSettled([
      query("select $1::jsonb as deep", [deep]),
      query("select $1::int as one", [1]),
    ]);
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "54001" } });
    expect(other).toMatchObject({ status: "fulfilled", value: [{ one: 1 }] });
  });
});

describe("transactions", () => {
  const slugs = async (db: Awaited<ReturnType<typeof onDatabase>>["db"]) =>
    (await db.select({ slug: organizations.slug }).from(organizations).orderBy(organizations.slug)).map(
      ({ slug }) => slug,
    );

  test("what returns is committed, what throws is not", async () => {
    const { db, transaction } = await onDatabase();
    const answer = await transaction(async (tx) => {
      await tx.insert(organizations).values(organization("kept"));
      return "done";
    });
    expect(answer).toBe("done");
    const failed = transaction(async (tx) => {
      await tx.insert(organizations).values(organization("dropped"));
      throw new Error("changed my mind");
    });
    await expect(failed).rejects.toThrow("changed my mind");
    expect(await slugs(db)).toEqual(["kept"]);
  });

  test("one that swallowed a failure says that nothing was committed", async () => {
    const { db, transaction } = await onDatabase();
    const swallowed = transaction(async (tx) => {
      await tx.insert(organizations).values(organization("a"));
      await tx.execute(sql`select 1 / 0`).catch(() => {});
    });
    await expect(swallowed).rejects.toMatchObject({ code: "22012" });
    expect(await slugs(db)).toEqual([]);
  });

  test("statements beside a transaction are not part of it", async () => {
    const { db, transaction, query } = await onDatabase();
    let beside: Promise<unknown> = Promise.resolve();
    const failed = transaction(async (tx) => {
      await tx.insert(organizations).values(organization("dropped"));
      beside = query("insert into throttles (key, count, resets_at) values ('k', 1, now())", []);
      await tx.execute(sql`select 1`);
      throw new Error("undo");
    });
    await expect(failed).rejects.toThrow("undo");
    await beside;
    expect(await slugs(db)).toEqual([]);
    expect(await db.select({ key: throttles.key }).from(throttles)).toEqual([{ key: "k" }]);
  });

  test("many at once each keep to themselves", async () => {
    const { db, transaction } = await onDatabase();
    await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        transaction(async (tx) => {
          await tx.insert(organizations).values(organization(`org-${String(index).padStart(2, "0")}`));
          await tx.execute(sql`select 1`);
          if (index % 2 === 0) throw new Error("undo");
        }),
      ),
    );
    const odd = Array.from({ length: 15 }, (_, index) => `org-${String(index * 2 + 1).padStart(2, "0")}`);
    expect(await slugs(db)).toEqual(odd);
  });

  test("a statement that outlives its transaction is refused", async () => {
    const { transaction } = await onDatabase();
    const leaked = await transaction(async (tx) => ({ tx }));
    await expect(leaked.tx.execute(sql`select 1`)).rejects.toThrow("The transaction is over");
  });
});

test("a closed database answers that it is closed", async () => {
  const { close, query } = await onDatabase();
  await query("select 1", []);
  await close();
  await expect(query("select 1", [])).rejects.toThrow(new EngineError("unavailable", "The database is closed"));
});
