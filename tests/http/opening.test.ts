import { expect, test } from "vitest";
import { harness } from "../harness.ts";

const database = async (response: Response | Promise<Response>) => {
  const answer = await response;
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { database: string }).database;
};

test("before the database is open, health says so and all else waits", async () => {
  const { request, engine, as } = await harness();
  const { promise, resolve } = Promise.withResolvers<void>();
  const headers = await as("viewer");
  engine.holdUntil(promise);
  const waiting = request("/api/me", { headers });
  expect(await database(request("/health"))).toBe("opening");
  let answered = false;
  void waiting.then(() => {
    answered = true;
  });
  await new Promise((settle) => setImmediate(settle));
  expect(answered).toBe(false);
  resolve();
  expect((await waiting).status).toBe(200);
  expect(await database(request("/health"))).toBe("ready");
});

test("no request waits longer than 30 seconds, nor for a start that failed", async () => {
  const { request, engine, clock } = await harness();
  const { promise, reject } = Promise.withResolvers<void>();
  engine.holdUntil(promise);
  const first = request("/v1/models");
  await clock.advance(29_000);
  const second = request("/v1/models");
  await clock.advance(1_000);
  expect(await (await first).json()).toMatchObject({ message: expect.stringContaining("still starting") });
  expect((await first).status).toBe(503);
  reject(new Error("the key of the secrets is another one"));
  expect((await second).status).toBe(503);
  expect(await (await second).text()).not.toContain("key of the secrets");
  expect(await database(request("/health"))).toBe("opening");
});
