import { argon2Verify } from "hash-wasm";
import { expect, test, vi } from "vitest";
import { openEdition } from "../../../src/core/edition.ts";
import { newId } from "../../../src/core/ids.ts";
import { users } from "../../../src/db/schema.ts";
import { harness, managedEdition } from "../../harness.ts";
import { passwords } from "../../passwords.ts";
import { spyOnStatements } from "../../statements.ts";

vi.mock("hash-wasm", async (original) => {
  const actual = await original<typeof import("hash-wasm")>();
  return { ...actual, argon2Verify: vi.fn(actual.argon2Verify) };
});

/** The cost parameters that argon2 was called with: the hash without salt and digest. */
const costs = () => vi.mocked(argon2Verify).mock.calls.map(([{ hash }]) => String(hash).split("$").slice(1, 4).join());

test.each([
  ["open", openEdition],
  ["managed", managedEdition],
])("in the %s edition, an unknown or inactive account costs the same work as a wrong password", async (_, edition) => {
  const h = await harness({ edition });
  const email = "ada@example.com";
  const account = { name: "Ada", passwordHash: await passwords.hash("right-password") };
  await h.services.database.db.insert(users).values([
    { ...account, id: newId(), email },
    { ...account, id: newId(), email: "bob@example.com", active: false },
  ]);
  const attempt = async (who: string, password: string) => {
    vi.mocked(argon2Verify).mockClear();
    const spy = spyOnStatements(h.services.database);
    const response = await h.request("/api/auth/sign-in/email", { method: "POST", json: { email: who, password } });
    const statements = spy.texts();
    spy.restore();
    return { status: response.status, body: await response.json(), costs: costs(), statements };
  };

  const known = await attempt(email, "wrong-one");
  expect(known).toMatchObject({ status: 401, costs: [expect.stringContaining("argon2id")] });
  expect(known.statements).not.toEqual([]);
  expect(await attempt("nobody@example.com", "wrong-one")).toEqual(known);
  expect(await attempt("bob@example.com", "right-password")).toEqual(known);
});
