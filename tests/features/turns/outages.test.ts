import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { budgetPeriods, jobs, turns } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { plainText } from "../../plain-text.ts";
import { finish, gate, reply, scriptedModel, text } from "../../scripted-model.ts";
import { chatHarness, eventually, readEvents, readUntil } from "../chat/chat.ts";

/** A turn that has sent a part of its reply and waits there. */
async function heldTurn(options: Parameters<typeof chatHarness>[2] = {}, extra: object = {}) {
  const held = gate();
  const model = scriptedModel(() => ({ parts: [...text("some"), held.promise, ...text(" more"), finish()] }));
  const h = await chatHarness(model, {}, options);
  const answer = h.complete("q", { chat_id: "c", ...extra });
  await model.called(1);
  const { db } = h.services.database;
  /** The effect of a database outage on every lease. */
  const outlast = () => db.update(turns).set({ leaseUntil: sql`now() - interval '1 second'` as never });
  const statusOf = async () => (await h.stored()).turns[0]?.status;
  return { h, held, model, answer, outlast, statusOf };
}

/** The beginning of the statement that ends a turn. */
const record = "with turn as ( update turns set status";

/** Makes statements that contain `words` fail, as without a database, until the returned function is called. */
function takeAway({ services: { database } }: Awaited<ReturnType<typeof chatHarness>>, words: string) {
  const { query } = database;
  database.query = async (statement, parameters) => {
    if (plainText(statement).includes(words)) throw new EngineError("unavailable", "The database is unavailable");
    return (await query(statement, parameters)) as never;
  };
  return () => {
    database.query = query;
  };
}

test("upkeep that runs before the renewal closes no turn that lives in this process", async () => {
  const { h, held, answer, outlast } = await heldTurn();
  await outlast();
  await h.engine.tick();
  await h.engine.renewLeases();
  held.open();
  expect(await (await answer).json()).toMatchObject({ choices: [{ message: { content: "some more" } }] });
  expect((await h.stored()).messages.map(({ content }) => content)).toEqual(["q", "some more"]);
});

test("nor does the next turn of its conversation, a repeat of its request, or a full queue", async () => {
  const { h, held, answer, outlast, statusOf } = await heldTurn();
  const headers = { "Idempotency-Key": "one" };
  const first = h.complete("again", { chat_id: "c" }, { headers });
  await eventually(async () => (await h.stored()).turns.length === 2);
  await outlast();
  expect((await h.complete("again", { chat_id: "c" }, { headers })).status).toBe(409);
  const rest = Array.from({ length: 15 }, () => h.complete("q", { chat_id: "c" }));
  await eventually(async () => (await h.stored()).turns.length === 17);
  await outlast();
  expect((await h.complete("q", { chat_id: "c" })).status).toBe(429);
  await h.clock.advance(500);
  expect(await statusOf()).toBe("running");
  held.open();
  for (const one of await Promise.all([answer, first, ...rest])) expect(one.status).toBe(200);
  expect((await h.stored()).turns.map(({ status }) => status)).toEqual(Array.from({ length: 17 }, () => "done"));
});

test("after an outage another process leaves a whole lease's time for the renewals of the others", async () => {
  const { h, held, answer, outlast, statusOf } = await heldTurn();
  const other = createEngine({ ...h.services, policies: new CurrentPolicies() });
  const back = takeAway(h, "set followed_by");
  await expect(other.renewLeases()).rejects.toMatchObject({ code: "unavailable" });
  await outlast();
  await other.tick();
  back();
  await other.renewLeases();
  await other.tick();
  await h.clock.advance(29_000);
  await other.tick();
  expect(await statusOf()).toBe("running");
  await h.clock.advance(1_000);
  await other.tick();
  expect(await statusOf()).toBe("lost");
  held.open();
  expect((await answer).status).toBe(503);
});

test("a turn that ends during an outage of a minute is stored when the database is back", async () => {
  const { h, held, answer, outlast } = await heldTurn({}, { stream: true });
  const back = takeAway(h, record);
  held.open();
  for (let second = 0; second < 60; second += 1) await h.clock.advance(1_000);
  expect((await h.stored()).messages).toEqual([]);
  await outlast();
  await h.engine.tick();
  back();
  await h.clock.advance(4_000);
  expect(await (await answer).text()).toContain("[DONE]");
  expect((await h.stored()).messages.map(({ content }) => content)).toEqual(["q", "some more"]);
});

test("a caller who receives the whole reply is told within seconds that it can't be stored", async () => {
  const { h, held, answer } = await heldTurn();
  takeAway(h, record);
  held.open();
  let status = 0;
  const answered = answer.then((response) => {
    status = response.status;
  });
  for (let second = 0; second < 20; second += 1) await h.clock.advance(1_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(status).toBe(503);
  await answered;
});

test("a stop does not wait for a database that stays away", async () => {
  const { h, held, answer } = await heldTurn();
  takeAway(h, record);
  held.open();
  const stopped = h.engine.stop(0);
  for (let second = 0; second < 12; second += 1) await h.clock.advance(1_000);
  await stopped;
  expect((await answer).status).toBe(503);
});

test("a turn that another process closed meanwhile says so, and not that it was taken over", async () => {
  const { h, held, outlast } = await heldTurn();
  const other = createEngine({ ...h.services, policies: new CurrentPolicies() });
  const stream = await h.native("q", { chat_id: "d" });
  await eventually(async () => (await h.stored()).turns.length === 2);
  await new Promise((resolve) => setImmediate(resolve));
  await outlast();
  await other.tick();
  await h.engine.renewLeases();
  held.open();
  const events = await readEvents(stream);
  const message =
    "The server was out of touch with its database for so long that the turn was closed: nothing of it is stored";
  expect(events.at(-2)).toMatchObject({ event: "error", data: { message } });
  expect(h.logs.join("\n")).toContain(message);
  expect(h.logs.join("\n")).not.toMatch(/taken over|process is gone/);
});

test("the error of a turn whose agent was deleted says so", async () => {
  const { h, held } = await heldTurn();
  const stream = await h.complete("q", { chat_id: "d", stream: true });
  await readUntil(stream, (said) => said.includes("some"));
  const { headers, slug } = h.agent;
  expect((await h.request(`/api/instances/${slug}`, { method: "DELETE", headers })).ok).toBe(true);
  held.open();
  await eventually(async () => h.logs.join("\n").includes("The agent was deleted while the turn ran"));
});

test("a start that is alone on its database frees at once what the process before it left open", async () => {
  const { h, answer, held } = await heldTurn({ soleProcess: true });
  const { db } = h.services.database;
  await db
    .insert(jobs)
    .values({ kind: "x", lockedBy: h.organization.id, lockedUntil: sql`now() + interval '1 day'` as never });
  const next = createEngine({ ...h.services, policies: new CurrentPolicies() });
  await next.boot({});
  expect((await h.stored()).turns[0]?.status).toBe("lost");
  expect((await h.stored()).conversations[0]?.openTurns).toBe(0);
  expect(await db.select().from(jobs).where(eq(jobs.kind, "x"))).toMatchObject([{ lockedUntil: new Date(0) }]);
  held.open();
  await answer;
});

test("a start that may not be alone leaves them open", async () => {
  const { h, answer, held, statusOf } = await heldTurn();
  await createEngine({ ...h.services, policies: new CurrentPolicies() }).boot({});
  expect(await statusOf()).toBe("running");
  held.open();
  expect((await answer).status).toBe(200);
});

test("a start right after an outage leaves the turns of others a whole lease's time for their renewals", async () => {
  const { h, answer, held, outlast, statusOf } = await heldTurn();
  await outlast();
  const next = createEngine({ ...h.services, policies: new CurrentPolicies() });
  await next.boot({});
  await next.renewLeases();
  await next.tick();
  await h.clock.advance(29_000);
  await next.tick();
  expect(await statusOf()).toBe("running");
  await h.clock.advance(1_000);
  await next.tick();
  expect(await statusOf()).toBe("lost");
  held.open();
  expect((await answer).status).toBe(503);
});

/** A conversation of one turn, and an agent with a budget, where the answer to the next opening is lost. */
async function lostOpening() {
  const h = await chatHarness(
    scriptedModel(() => reply("ok")),
    { monthlyTokenBudget: 100_000 },
  );
  await h.complete("first", { chat_id: "c" });
  const { database } = h.services;
  const { query } = database;
  database.query = async (statement, parameters) => {
    const rows = await query(statement, parameters);
    if (!plainText(statement).includes("insert into turns")) return rows as never;
    database.query = query;
    throw new EngineError("unavailable", "The database is unavailable");
  };
  const statuses = async () => (await h.stored()).turns.map(({ status }) => status);
  const reserved = async () => (await database.db.select().from(budgetPeriods))[0]?.reserved;
  return { h, statuses, reserved };
}

test("a turn that was opened though the answer to its opening was lost is closed at once, and a repeat goes on", async () => {
  const { h, statuses, reserved } = await lostOpening();
  const used = async () => (await h.services.database.db.select().from(budgetPeriods))[0]?.used;
  const before = await used();
  const headers = { "Idempotency-Key": "one" };
  const lost = await h.complete("lost", { chat_id: "c" }, { headers });
  expect([lost.status, lost.headers.get("Retry-After")]).toEqual([503, "1"]);
  const again = await h.complete("lost", { chat_id: "c" }, { headers });
  expect([again.status, again.headers.get("Idempotent-Replayed")]).toEqual([200, null]);
  expect(await statuses()).toEqual(["done", "lost", "done"]);
  expect([await reserved(), (await h.stored()).conversations[0]?.openTurns]).toEqual([0, 0]);
  // The lost turn took nothing.
  expect(await used()).toBe(2 * (before ?? Number.NaN));
});

test("a turn that the database opens after its answer was given up is closed with the next renewal", async () => {
  const { h, statuses } = await lostOpening();
  expect((await h.complete("lost", { chat_id: "c" })).status).toBe(503);
  await eventually(async () => (await statuses()).includes("lost"));
  // As if the opening were committed only now.
  const { db } = h.services.database;
  await db.update(turns).set({ status: "running" }).where(eq(turns.status, "lost"));
  await h.clock.advance(5_000);
  await h.engine.renewLeases();
  expect(await statuses()).toEqual(["done", "lost"]);
});

test("a turn whose opening was lost before a longer outage is closed when that is over", async () => {
  const { h, statuses } = await lostOpening();
  const { database } = h.services;
  expect((await h.complete("lost", { chat_id: "c" })).status).toBe(503);
  await eventually(async () => (await statuses()).includes("lost"));
  const { db } = database;
  await db.update(turns).set({ status: "running" }).where(eq(turns.status, "lost"));
  const { query } = database;
  database.query = () => Promise.reject(new EngineError("unavailable", "The database is unavailable"));
  for (let passed = 0; passed <= 40_000; passed += 5_000) {
    await h.clock.advance(5_000);
    await h.engine.renewLeases().catch(() => {});
  }
  database.query = query;
  await h.engine.renewLeases();
  expect(await statuses()).toEqual(["done", "lost"]);
});

test("the next turn of the conversation goes on without a word of that", async () => {
  const { h, statuses } = await lostOpening();
  expect((await h.complete("lost", { chat_id: "c" })).status).toBe(503);
  const next = h.complete("next", { chat_id: "c" });
  await eventually(async () => (await statuses()).length === 3);
  await h.clock.advance(250);
  expect((await next).status).toBe(200);
  expect(await statuses()).toEqual(["done", "lost", "done"]);
});
