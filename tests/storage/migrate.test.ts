import { describe, expect, test } from "vitest";
import { checkServer, pendingMigrations } from "../../src/db/migrate.ts";

describe("which server is right", () => {
  const utf8 = (version: number) => () => checkServer({ version, encoding: "UTF8", foreign: [] });

  test("PostgreSQL 15 and newer", () => {
    for (const version of [150_000, 150_014, 180_004]) expect(utf8(version)).not.toThrow();
  });

  test("an older one is refused by its name", () => {
    expect(utf8(140_011)).toThrow("PostgreSQL 14 is too old: use PostgreSQL 15 or newer");
    expect(utf8(90_624)).toThrow("PostgreSQL 9 is too old: use PostgreSQL 15 or newer");
  });

  test("another encoding is refused", () => {
    expect(() => checkServer({ version: 150_000, encoding: "LATIN1", foreign: [] })).toThrow(
      "The database is encoded in LATIN1",
    );
  });
});

describe("which migrations are pending", () => {
  const migrations = [10, 20, 30].map((folderMillis) => ({ folderMillis, sql: [], hash: "" }));
  const pending = (...at: number[]) =>
    pendingMigrations(
      migrations,
      at.map((moment) => ({ at: moment })),
    ).map(({ folderMillis }) => folderMillis);

  test("those that the database does not have, in order", () => {
    expect(pending()).toEqual([10, 20, 30]);
    expect(pending(10, 20)).toEqual([30]);
    // A migration of a branch that was merged after a later one.
    expect(pending(10, 30)).toEqual([20]);
    expect(pending(10, 20, 30)).toEqual([]);
  });

  test("a database with unknown ones belongs to a newer release", () => {
    expect(() => pending(10, 20, 30, 40)).toThrow("The database belongs to a newer release of Agent Engine");
  });
});
