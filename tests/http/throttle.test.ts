import { expect, test } from "vitest";
import { accessTokens, oneTimeTokens, throttles } from "../../src/db/schema.ts";
import { countCall, forgetCalls, uncountCall } from "../../src/db/throttle.ts";
import { accountFeature, issueSetupToken } from "../../src/features/account/index.ts";
import { deleteOldRows } from "../../src/jobs/old-rows.ts";
import { harness } from "../harness.ts";

const limit = { calls: 3, windowMs: 60_000 };

test("a window is fixed, and begins with its first call", async () => {
  const { services, clock } = await harness();
  const call = () => countCall(services, "a", limit);
  expect(await call()).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
  await clock.advance(59_500);
  expect(await call()).toEqual({ allowed: true, limit: 3, remaining: 1, resetSeconds: 1 });
  await call();
  expect(await call()).toEqual({ allowed: false, limit: 3, remaining: 0, resetSeconds: 1 });
  expect((await countCall(services, "b", limit)).remaining).toBe(2);
  await clock.advance(500);
  expect(await call()).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
});

test("a window gets no longer when the clock is set back", async () => {
  const { services, clock } = await harness();
  const call = () => countCall(services, "a", limit);
  await call();
  clock.setBack(60 * 60_000);
  expect(await call()).toEqual({ allowed: true, limit: 3, remaining: 1, resetSeconds: 60 });
  await clock.advance(30_000);
  expect(await call()).toEqual({ allowed: true, limit: 3, remaining: 0, resetSeconds: 30 });
  await clock.advance(30_000);
  expect(await call()).toEqual({ allowed: true, limit: 3, remaining: 2, resetSeconds: 60 });
});

test("nor does one of calls without credentials, which only this process counts", async () => {
  const h = await harness();
  const { policies } = h.services;
  policies.set({ ...policies.values, rateLimit: { limit: 10, windowSeconds: 60 } });
  const call = async () => (await h.request("/api/me")).status;
  for (let count = 0; count < 10; count += 1) expect(await call()).toBe(401);
  expect(await call()).toBe(429);
  h.clock.setBack(60 * 60_000);
  expect(await call()).toBe(429);
  await h.clock.advance(60_000);
  expect(await call()).toBe(401);
});

test("calls at the same time are counted one by one", async () => {
  const { services } = await harness();
  const verdicts = await Promise.all(Array.from({ length: 30 }, () => countCall(services, "a", limit)));
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(3);
});

test("a call can be taken back, and a key forgotten", async () => {
  const { services } = await harness();
  await countCall(services, "a", limit);
  await uncountCall(services, "a");
  await uncountCall(services, "a");
  expect((await countCall(services, "a", limit)).remaining).toBe(2);
  await countCall(services, "a", limit);
  await forgetCalls(services, "a");
  expect((await countCall(services, "a", limit)).remaining).toBe(2);
});

test("upkeep deletes windows, sessions and links that are over, and no management key", async () => {
  const h = await harness();
  const { services, clock } = h;
  const { db } = services.database;
  await issueSetupToken(services);
  await h.request("/api/organizations/acme/management-keys", {
    method: "POST",
    headers: await h.as("owner"),
    json: { name: "short", expiresAt: "2026-01-02T00:00:00Z" },
  });
  await clock.advance(31 * 24 * 60 * 60_000);
  await h.as("owner");
  await countCall(services, "old", limit);
  await clock.advance(30_000);
  await countCall(services, "new", limit);
  await clock.advance(30_001);
  for (const deleteOld of deleteOldRows(services, accountFeature(services).oldRows ?? [])) await deleteOld();
  expect((await db.select().from(accessTokens)).map(({ kind }) => kind).sort()).toEqual(["management", "session"]);
  expect(await db.select().from(oneTimeTokens)).toEqual([]);
  expect((await db.select().from(throttles)).map(({ key }) => key)).toEqual(["new"]);
});
