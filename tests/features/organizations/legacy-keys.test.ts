import { bcrypt } from "hash-wasm";
import { describe, expect, test, vi } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";
import { managementKey } from "./callers.ts";

const hash = (password: string) =>
  bcrypt({ password, salt: crypto.getRandomValues(new Uint8Array(16)), costFactor: 4, outputType: "encoded" });

/** A stored key in the older form. */
async function legacyKey(h: Harness, row: Partial<typeof accessTokens.$inferInsert> = {}, key?: string) {
  const token = key ?? (await newToken("management")).token;
  const id = newId();
  await h.services.database.db.insert(accessTokens).values({
    id,
    kind: "management",
    organizationId: h.organization.id,
    name: "old",
    prefix: token.slice(0, 10),
    legacyHash: await hash(token),
    ...row,
  });
  return { id, token };
}

const use = (h: Harness, token: string) =>
  h.request("/api/organizations", { headers: { Authorization: `Bearer ${token}` } });
const rows = (h: Harness) => h.services.database.db.select().from(accessTokens);

/** Calls `verifyBcrypt` for real and counts. */
function countHashes(h: Harness) {
  const verifyBcrypt = vi.fn(h.services.passwords.verifyBcrypt);
  h.services.passwords = { ...h.services.passwords, verifyBcrypt };
  return verifyBcrypt;
}

describe("a management key in the older form", () => {
  test("works, and is one of the newer form from its first use on", async () => {
    const h = await harness();
    const verify = countHashes(h);
    const { id, token } = await legacyKey(h);
    const first = await use(h, token);
    expect(first.status).toBe(200);
    expect((await first.json()).organizations).toEqual([expect.objectContaining({ slug: "acme", roleKey: "owner" })]);
    expect(verify).toHaveBeenCalledTimes(1);
    const [row] = await rows(h);
    expect(row).toMatchObject({ id, legacyHash: null, prefix: token.slice(0, 10), digest: expect.any(Uint8Array) });
    expect(h.logs.join("\n")).toContain("rewritten");
    expect(h.logs.join("\n")).not.toContain(token);

    const statements = spyOnStatements(h.services.database);
    expect((await use(h, token)).status).toBe(200);
    expect(statements.texts().filter((text) => text.includes("access_tokens"))).toHaveLength(1);
    expect(verify).toHaveBeenCalledTimes(1);
  });

  test("may be met several times at once", async () => {
    const h = await harness();
    const { token } = await legacyKey(h);
    const responses = await Promise.all(Array.from({ length: 10 }, () => use(h, token)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(h.logs.filter((line) => line.includes("rewritten"))).toHaveLength(1);
    expect((await rows(h)).map(({ legacyHash }) => legacyHash)).toEqual([null]);
  });

  test("counts for nobody, however many there are to rewrite", async () => {
    const h = await harness();
    for (let index = 0; index < 35; index += 1) {
      const { token } = await legacyKey(h);
      expect((await use(h, token)).status, `key ${index}`).toBe(200);
    }
  });

  test("is found when another call rewrites it between the two look-ups", async () => {
    const h = await harness();
    const { token } = await legacyKey(h);
    const { query } = h.services.database;
    const spy = vi.spyOn(h.services.database, "query");
    spy.mockImplementationOnce(async (text, parameters) => {
      const found = await query(text, parameters);
      spy.mockRestore();
      expect((await use(h, token)).status).toBe(200);
      return found as never;
    });
    expect((await use(h, token)).status).toBe(200);
  });

  test("is distinguished from others that begin alike", async () => {
    const h = await harness();
    const other = await h.createOrganization("other");
    const beginning = (await newToken("management")).token.slice(0, 10);
    await legacyKey(h, {}, `${beginning}one`);
    const second = await legacyKey(h, { organizationId: other.id }, `${beginning}two`);
    const response = await use(h, second.token);
    expect((await response.json()).organizations).toEqual([expect.objectContaining({ slug: "other" })]);
    expect((await rows(h)).map(({ legacyHash }) => legacyHash === null).sort()).toEqual([false, true]);
    expect((await use(h, `${beginning}three`)).status).toBe(401);
  });

  test("ends when it was said to, and when it is revoked", async () => {
    const h = await harness();
    const verify = countHashes(h);
    const expired = await legacyKey(h, { expiresAt: new Date(h.clock.now()) });
    expect((await use(h, expired.token)).status).toBe(401);
    expect(verify).not.toHaveBeenCalled();

    const revoked = await legacyKey(h);
    const owner = await h.as("owner");
    const path = `/api/organizations/acme/management-keys/${revoked.id}`;
    expect((await h.request(path, { method: "DELETE", headers: owner })).status).toBe(200);
    expect((await use(h, revoked.token)).status).toBe(401);
  });

  test("that was stored broken opens nothing", async () => {
    const h = await harness();
    for (const legacyHash of ["", "x", "$2a$04$short"]) {
      const { token } = await legacyKey(h, { legacyHash });
      expect((await use(h, token)).status, legacyHash).toBe(401);
    }
  });

  test("is no session, whatever its row says", async () => {
    const h = await harness();
    const { token } = await newToken("session");
    await legacyKey(h, { kind: "session" }, token);
    expect((await use(h, token)).status).toBe(401);
  });
});

describe("a wrong key", () => {
  test("makes the server hash nothing unless it begins like a stored one", async () => {
    const h = await harness();
    const verify = countHashes(h);
    const { token } = await legacyKey(h);
    for (const wrong of [
      (await newToken("management")).token,
      `aek_${token.slice(4, 9)}`,
      `${token}${"x".repeat(100)}`,
      `aes_${token.slice(4)}`,
    ]) {
      expect((await use(h, wrong)).status, wrong).toBe(401);
    }
    expect(verify).not.toHaveBeenCalled();
    expect((await use(h, `${token.slice(0, -1)}!`)).status).toBe(401);
    expect(verify).toHaveBeenCalledTimes(1);
  });

  test("that does may be tried a few times a minute, while the right ones go on", async () => {
    const h = await harness();
    const verify = countHashes(h);
    const [modern, { token }] = [await managementKey(h), await legacyKey(h)];
    const attempts = await Promise.all(Array.from({ length: 40 }, (_, index) => use(h, `${token}${index}`)));
    expect(attempts.filter(({ status }) => status === 401)).toHaveLength(30);
    const refused = attempts.find(({ status }) => status === 429);
    expect(refused?.headers.get("Retry-After")).toBe("60");
    expect(verify).toHaveBeenCalledTimes(30);
    expect((await h.request("/api/organizations", { headers: modern })).status).toBe(200);
    expect((await use(h, token)).status).toBe(429);
    await h.clock.advance(60_000);
    expect((await use(h, token)).status).toBe(200);
  });

  test("has at most eight stored ones held against it", async () => {
    const h = await harness();
    const verify = countHashes(h);
    const beginning = (await newToken("management")).token.slice(0, 10);
    for (let index = 0; index < 10; index += 1) await legacyKey(h, {}, `${beginning}${index}`);
    expect((await use(h, `${beginning}wrong`)).status).toBe(401);
    expect(verify).toHaveBeenCalledTimes(8);
  });
});
