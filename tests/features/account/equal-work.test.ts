import { argon2id } from "hash-wasm";
import { expect, test, vi } from "vitest";
import { passwords } from "../../../src/core/credentials/wasm-hashing.ts";
import { newId } from "../../../src/core/ids.ts";
import { users } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

vi.mock("hash-wasm", async (original) => {
  const actual = await original<typeof import("hash-wasm")>();
  return { ...actual, argon2id: vi.fn(actual.argon2id) };
});

/** What argon2 was called with, but for the salt. */
const costs = () => vi.mocked(argon2id).mock.calls.map(([{ salt, ...cost }]) => ({ ...cost, salt: salt.length }));

test("an unknown account costs the same work as a wrong password", async () => {
  const h = await harness();
  const email = "ada@example.com";
  const passwordHash = await passwords.hash("right-password");
  await h.services.database.db.insert(users).values({ id: newId(), email, name: "Ada", passwordHash });
  const attempt = async (who: string) => {
    vi.mocked(argon2id).mockClear();
    const response = await h.request("/api/auth/sign-in/email", {
      method: "POST",
      json: { email: who, password: "wrong-one" },
    });
    return { status: response.status, body: await response.json(), costs: costs() };
  };

  const known = await attempt(email);
  expect(known).toMatchObject({ status: 401, costs: [{ memorySize: 7168, iterations: 5, parallelism: 1, salt: 16 }] });
  expect(await attempt("nobody@example.com")).toEqual(known);
});
