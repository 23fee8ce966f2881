import { argon2Verify } from "hash-wasm";
import { expect, test, vi } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { users } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { passwords } from "../../passwords.ts";

vi.mock("hash-wasm", async (original) => {
  const actual = await original<typeof import("hash-wasm")>();
  return { ...actual, argon2Verify: vi.fn(actual.argon2Verify) };
});

/** The cost parameters that argon2 was called with: the hash without salt and digest. */
const costs = () => vi.mocked(argon2Verify).mock.calls.map(([{ hash }]) => String(hash).split("$").slice(1, 4).join());

test("an unknown account costs the same work as a wrong password", async () => {
  const h = await harness();
  const email = "ada@example.com";
  const passwordHash = await passwords.hash("right-password");
  await h.services.database.db.insert(users).values({ id: newId(), email, name: "Ada", passwordHash });
  const attempt = async (who: string) => {
    vi.mocked(argon2Verify).mockClear();
    const response = await h.request("/api/auth/sign-in/email", {
      method: "POST",
      json: { email: who, password: "wrong-one" },
    });
    return { status: response.status, body: await response.json(), costs: costs() };
  };

  const known = await attempt(email);
  expect(known).toMatchObject({ status: 401, costs: [expect.stringContaining("argon2id")] });
  expect(await attempt("nobody@example.com")).toEqual(known);
});
