import { eq, sql } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { newId } from "../../../src/core/ids.ts";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { agents, budgetHolds, budgetPeriods, conversations, turns, userBudgetPeriods } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { checkBudgets } from "../../../src/features/health/checks.ts";
import { sharedBudget } from "../../../src/features/turns/budget/shared-budget.ts";
import { inspectBudgets } from "../../../src/features/turns/index.ts";
import { Heartbeat } from "../../../src/jobs/heartbeat.ts";
import { plainText } from "../../plain-text.ts";
import {
  finish,
  gate,
  reply,
  type ScriptStep,
  scriptedModel,
  text,
  textDelta,
  toolCall,
} from "../../scripted-model.ts";
import { spyOnStatements } from "../../statements.ts";
import { asking, ownTurns } from "../../turns.ts";
import { type ChatHarness, chatHarness, eventually, readEvents } from "./chat.ts";

const spent = "The agent's monthly token budget is used up";
/** The test clock begins in January 2026. */
const [month, january] = ["2026-01-01", "2026-01-15"];
const secondsOfJanuary = 31 * 24 * 60 * 60;

const anotherProcess = ({ services }: ChatHarness) => createEngine({ ...services, policies: new CurrentPolicies() });

/** A reply with the given token counts. */
const taking = (input: number, output: number): ScriptStep => ({
  parts: [...text("Yes."), finish("stop", { input, output })],
});

/** An agent with a budget and at most 100 tokens an answer, and reads of its budget. */
async function budgeted(
  script: Parameters<typeof scriptedModel>[0],
  monthlyTokenBudget: number | null,
  fields: object = {},
) {
  const model = scriptedModel(script);
  const h = await chatHarness(model, { maxOutputTokens: 100, monthlyTokenBudget, ...fields });
  const { db } = h.services.database;
  const change = async (json: object) => {
    const { slug, headers } = h.agent;
    expect((await h.request(`/api/instances/${slug}`, { method: "PATCH", headers, json })).status).toBe(200);
  };
  return {
    ...h,
    db,
    model,
    change,
    say: async (chat: string, content = "Hi") => readEvents(await h.native(content, { chat_id: chat })),
    periods: () =>
      db
        .select({ month: budgetPeriods.month, used: budgetPeriods.used, reserved: budgetPeriods.reserved })
        .from(budgetPeriods),
    turnsOf: () => db.select().from(turns).orderBy(turns.createdAt),
    /** Moves all turns to a day, since the database sets `createdAt` by its own clock. */
    date: (day: string) => db.update(turns).set({ createdAt: new Date(day) }),
  };
}

const error = (events: Awaited<ReturnType<typeof readEvents>>) =>
  events.find(({ event }) => event === "error")?.data.message;

describe("an agent with a budget", () => {
  test("refuses what the month has no tokens for, before anything is stored or asked", async () => {
    const h = await budgeted([taking(900, 60)], 1_000);
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ month, used: 960, reserved: 0 }]);
    const refused = await h.complete("Hi", { chat_id: "b" });
    expect([refused.status, (await refused.json()).message]).toEqual([429, spent]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": String(secondsOfJanuary),
      "x-ratelimit-limit": "1000",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(secondsOfJanuary),
    });
    const streamed = await h.complete("Hi", { chat_id: "b", stream: true });
    expect([streamed.status, streamed.headers.get("Retry-After")]).toEqual([429, String(secondsOfJanuary)]);
    const events = await h.say("b");
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ["error", { message: spent }],
      ["done", { conversationId: null, messageId: null }],
    ]);
    expect(await h.periods()).toEqual([{ month, used: 960, reserved: 0 }]);
    expect([(await h.stored()).turns.length, (await h.stored()).conversations.length, h.model.calls.length]).toEqual([
      1, 1, 1,
    ]);
  });

  test("has a new one with the next month", async () => {
    const h = await budgeted(() => taking(1_200, 60), 2_000);
    await h.say("a");
    expect(error(await h.say("a"))).toBe(spent);
    await h.date(january);
    await h.clock.advance(secondsOfJanuary * 1000 - 1);
    const last = await h.complete("Hi", { chat_id: "a" });
    expect([last.status, last.headers.get("Retry-After")]).toEqual([429, "1"]);
    await h.clock.advance(1);
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([
      { month, used: 1_260, reserved: 0 },
      { month: "2026-02-01", used: 1_260, reserved: 0 },
    ]);
  });

  test("charges a turn to the month in which it began", async () => {
    const thought = gate();
    const h = await budgeted(() => ({ opens: thought.promise, deaf: true, ...taking(10, 5) }), 10_000);
    await h.clock.advance(secondsOfJanuary * 1000 - 1);
    const said = h.say("a");
    await h.model.called(1);
    await h.clock.advance(1);
    thought.open();
    await said;
    expect(await h.periods()).toEqual([{ month, used: 15, reserved: 0 }]);
  });

  test("can't be made to spend more by many callers at once", async () => {
    const all = gate();
    const h = await budgeted(() => ({ opens: all.promise, ...taking(30, 100) }), 8_000);
    const statuses: number[] = [];
    const said = Array.from({ length: 20 }, async (_, index) => {
      statuses.push((await h.complete("Hi", { chat_id: `c${index % 12}` })).status);
    });
    const open = await eventually(async () => {
      const open = await h.turnsOf();
      return open.length + statuses.length === 20 && open;
    });
    expect(statuses).toEqual(Array(20 - open.length).fill(429));
    const [first] = open;
    const held = (first?.reserved ?? 0) * open.length;
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: held }]);
    expect([held <= 8_000, held + (first?.reserved ?? 0) > 8_000]).toEqual([true, true]);
    all.open();
    await Promise.all(said);
    expect(statuses.slice(20 - open.length)).toEqual(open.map(() => 200));
    expect(await h.periods()).toEqual([{ month, used: open.length * 130, reserved: 0 }]);
  });

  test("holds at least what the conversation's last prompt took", async () => {
    const waits = gate();
    const h = await budgeted(
      (_, index) => (index === 0 ? taking(5_000, 10) : { opens: waits.promise, ...taking(5_100, 10) }),
      20_000,
    );
    await h.say("a");
    const said = h.say("a", "x".repeat(300));
    await h.model.called(2);
    expect((await h.turnsOf())[1]).toMatchObject({ reserved: 5_000 + 100 + 100 });
    expect(await h.periods()).toEqual([{ month, used: 5_010, reserved: 5_200 }]);
    waits.open();
    await said;
    expect(await h.periods()).toEqual([{ month, used: 10_120, reserved: 0 }]);
  });

  test("gives back what it held for a turn that found the line full", async () => {
    const all = gate();
    const h = await budgeted(() => ({ opens: all.promise, ...taking(10, 10) }), 1_000_000);
    const said = Array.from({ length: 17 }, () => h.say("a"));
    await vi.waitFor(async () => expect(await h.turnsOf()).toHaveLength(17));
    expect(error(await h.say("a"))).toBe("Too many turns wait in this conversation");
    const held = (await h.turnsOf()).reduce((sum, { reserved }) => sum + reserved, 0);
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: held }]);
    all.open();
    await Promise.all(said);
    expect(await h.periods()).toEqual([{ month, used: 17 * 20, reserved: 0 }]);
  });

  test("may have none at all", async () => {
    const h = await budgeted([], 1);
    expect(error(await h.say("a"))).toBe(spent);
    expect(await h.periods()).toEqual([]);
  });
});

describe("what a turn took is settled", () => {
  test("with nothing for one that its provider refused", async () => {
    const h = await budgeted(() => ({ fail: new Error("no") }), 10_000);
    expect(error(await h.say("a"))).toBe("Model provider error");
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 0 }]);
  });

  test("with what its prompt took at least, for one that broke off uncounted", async () => {
    const h = await budgeted(() => ({ parts: [textDelta("Half"), new Error("gone")] }), 10_000);
    await h.say("a", "x".repeat(3_000));
    const [period] = await h.periods();
    expect(period?.reserved).toBe(0);
    expect(period?.used).toBeGreaterThan(1_000);
    expect(period?.used).toBeLessThan(2_000);
  });

  test("with all that was said and brought along, for one that is left before anybody counted", async () => {
    const page = "y".repeat(30_000);
    const left = gate();
    const h = await budgeted(
      [
        { parts: [...toolCall("c", "getState", {}), finish("tool-calls", { input: 100, output: 10 })] },
        { parts: [textDelta("z".repeat(3_000)), left.promise] },
      ],
      100_000,
    );
    const path = `/api/instances/${h.agent.slug}/tools`;
    await h.request(path, { method: "PATCH", headers: h.agent.headers, json: { enabled: ["getState"] } });
    const ref = `${h.agent.slug}:web:api-a`;
    await h.db.insert(conversations).values({
      ...{
        id: crypto.randomUUID(),
        ref,
        channel: "web",
        channelId: "api-a",
        subject: `conversation:${ref}`,
        state: { page },
      },
      ...(await h.db.select({ agentId: agents.id, organizationId: agents.organizationId }).from(agents))[0],
    } as typeof conversations.$inferInsert);
    const said = h.say("a");
    await h.model.called(2);
    await eventually(async () => ((await h.turnsOf())[0]?.reserved ?? 0) > 110 + 10_000);
    const [turn] = await h.turnsOf();
    const stop = { method: "DELETE", headers: { Authorization: `Bearer ${h.agent.key}` } };
    await h.request(`/api/instances/${h.agent.slug}/chat/stream/${turn?.id}`, stop);
    await said;
    const [period] = await h.periods();
    expect(period?.reserved).toBe(0);
    // The tokens of the counted call, and for the other call an estimate of the prompt, the tool result and the text.
    expect(period?.used).toBeGreaterThan(110 + 100 + 10_000 + 1_000);
    expect(period?.used).toBeLessThan(12_000);
  });

  test("so, too, where a provider counts nothing", async () => {
    const h = await budgeted(() => taking(0, 0), 10_000);
    await h.say("a", "x".repeat(3_000));
    expect((await h.periods())[0]?.used).toBeGreaterThan(1_000);
  });

  test("with what its prompt takes, for one that nobody waited for", async () => {
    const h = await budgeted(() => ({ opens: new Promise(() => {}) }), 10_000);
    const client = new AbortController();
    const said = h.complete("Hi", { chat_id: "a" }, { signal: client.signal });
    await h.model.called(1);
    expect((await h.periods())[0]?.reserved).toBeGreaterThan(0);
    client.abort();
    await Promise.resolve(said).catch(() => {});
    await eventually(async () => (await h.periods())[0]?.reserved === 0);
    expect((await h.periods())[0]?.used).toBeGreaterThan(100);
  });

  test("with the tokens reserved for it, where its process died", async () => {
    const h = await budgeted(() => ({ opens: new Promise(() => {}) }), 10_000);
    const said = h.say("a");
    await h.model.called(1);
    const [turn] = await h.turnsOf();
    const reserved = turn?.reserved ?? 0;
    expect(reserved).toBeGreaterThan(100);
    await h.db.update(turns).set({ leaseUntil: new Date(0) });
    await anotherProcess(h).tick();
    expect(await h.periods()).toEqual([{ month, used: reserved, reserved: 0 }]);
    // A living process whose turn was closed as dead adds no tokens.
    await h.engine.renewLeases();
    await said;
    await h.engine.tick();
    expect(await h.periods()).toEqual([{ month, used: reserved, reserved: 0 }]);
  });

  test("where the next turn of the conversation finds it dead, as well", async () => {
    const h = await budgeted((_, index) => (index === 0 ? { opens: new Promise(() => {}) } : taking(10, 10)), 10_000);
    void h.say("a");
    await h.model.called(1);
    const reserved = (await h.turnsOf())[0]?.reserved ?? 0;
    await h.db.update(turns).set({ leaseUntil: new Date(0) });
    const next = await anotherProcess(h).app.request(
      `/api/instances/${h.agent.slug}/chat/stream`,
      {
        method: "POST",
        headers: { Authorization: `Bearer ${h.agent.key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], chat_id: "a" }),
      },
      { remoteAddress: "192.0.2.2" },
    );
    await readEvents(next);
    expect(await h.periods()).toEqual([{ month, used: reserved + 20, reserved: 0 }]);
  });
});

describe("a turn of several calls", () => {
  const twice = (first: { input: number; output: number }): ScriptStep[] => [
    { parts: [...text("Let me look."), ...toolCall("c", "currentTime", {}), finish("tool-calls", first)] },
    taking(700, 50),
  ];
  const looking = async (first: { input: number; output: number }, budget: number) => {
    const h = await budgeted(twice(first), budget);
    const path = `/api/instances/${h.agent.slug}/tools`;
    const json = { enabled: ["currentTime"] };
    expect((await h.request(path, { method: "PATCH", headers: h.agent.headers, json })).status).toBe(200);
    return h;
  };

  test("asks for each of them, and settles them all", async () => {
    const h = await looking({ input: 600, output: 20 }, 10_000);
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ month, used: 1_370, reserved: 0 }]);
    const [turn] = await h.turnsOf();
    expect(turn?.reserved).toBeGreaterThan(620 + 100);
  });

  test("holds what was taken and one call more, however many calls there were", async () => {
    const call: ScriptStep = {
      parts: [...toolCall("c", "currentTime", {}), finish("tool-calls", { input: 300, output: 20 })],
    };
    const h = await budgeted([call, call, call, call, call, taking(300, 20)], 2_400);
    const path = `/api/instances/${h.agent.slug}/tools`;
    const json = { enabled: ["currentTime"] };
    expect((await h.request(path, { method: "PATCH", headers: h.agent.headers, json })).status).toBe(200);
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ month, used: 6 * 320, reserved: 0 }]);
    // Reserved for the next call: the tokens of the last call, the result of `currentTime`, and the answer.
    const reserved = (await h.turnsOf())[0]?.reserved ?? 0;
    expect(reserved).toBeGreaterThan(5 * 320 + 320 + 100);
    expect(reserved).toBeLessThan(5 * 320 + 320 + 100 + 100);
  });

  test("stops midway when there is nothing left, and says so", async () => {
    const h = await looking({ input: 600, output: 20 }, 1_000);
    const events = await h.say("a");
    expect(events.slice(-2).map(({ event, data }) => [event, data])).toEqual([
      ["error", { message: spent }],
      ["done", { conversationId: expect.any(String), messageId: expect.any(String) }],
    ]);
    expect(await h.periods()).toEqual([{ month, used: 620, reserved: 0 }]);
    expect(h.model.calls).toHaveLength(1);
    const { messages } = await h.stored();
    expect(messages.at(-1)).toMatchObject({
      content: "Let me look.",
      metadata: { error: { code: "rate-limited", message: spent } },
    });
  });

  test("is a 429 then where nothing was sent yet", async () => {
    const h = await looking({ input: 600, output: 20 }, 1_000);
    const answer = await h.complete("Hi", { chat_id: "a" });
    expect([answer.status, (await answer.json()).message]).toEqual([429, spent]);
    expect(answer.headers.get("Retry-After")).toBe(String(secondsOfJanuary));
  });
});

test("a history that comes with the request is held as well, and counted where the provider counts nothing", async () => {
  const h = await budgeted(() => taking(0, 0), 10_000);
  const said = (role: string, content: string) => ({ role, content });
  const messages = (bytes: number) => [said("user", "x".repeat(bytes)), said("assistant", "Yes."), said("user", "Hi")];
  expect(error(await readEvents(await h.native("", { messages: messages(60_000) })))).toBe(spent);
  expect(h.model.calls).toHaveLength(0);
  await readEvents(await h.native("", { messages: messages(12_000) }));
  expect(h.model.calls).toHaveLength(1);
  const [period] = await h.periods();
  expect(period?.used).toBeGreaterThan(4_000);
  expect(period?.reserved).toBe(0);
});

describe("a budget that comes and goes", () => {
  test("counts the turns of the month before it, and no earlier ones", async () => {
    const h = await budgeted(() => taking(100, 20), null);
    await h.say("a");
    await h.date("2025-12-31");
    await h.say("a");
    await h.say("b");
    await h.db
      .update(turns)
      .set({ createdAt: new Date(january) })
      .where(eq(turns.createdAt, (await h.turnsOf())[1]?.createdAt ?? new Date()));
    expect(await h.periods()).toEqual([]);
    await h.change({ monthlyTokenBudget: 10_000 });
    await h.say("c");
    expect(await h.periods()).toEqual([{ month, used: 3 * 120, reserved: 0 }]);
  });

  test("sums them up once, even where they leave nothing", async () => {
    const h = await budgeted(() => taking(100, 20), null);
    await h.say("a");
    await h.date(january);
    await h.change({ monthlyTokenBudget: 100 });
    expect(error(await h.say("a"))).toBe(spent);
    expect(await h.periods()).toEqual([{ month, used: 120, reserved: 0 }]);
    expect(error(await h.say("a"))).toBe(spent);
    await h.change({ monthlyTokenBudget: 10_000 });
    expect(error(await h.say("a"))).toBeUndefined();
    expect(await h.periods()).toEqual([{ month, used: 240, reserved: 0 }]);
  });

  test("counts those that were under way when it came", async () => {
    const slow = gate();
    const h = await budgeted(
      (_, index) => (index === 0 ? { opens: slow.promise, ...taking(100, 20) } : taking(10, 2)),
      null,
    );
    const said = h.say("a");
    await h.model.called(1);
    await h.date(january);
    await h.change({ monthlyTokenBudget: 10_000 });
    await h.say("b");
    expect(await h.periods()).toEqual([{ month, used: 12, reserved: 0 }]);
    slow.open();
    await said;
    expect(await h.periods()).toEqual([{ month, used: 132, reserved: 0 }]);
  });

  test("ends with its removal, at once", async () => {
    const h = await budgeted(() => taking(900, 60), 1_000);
    await h.say("a");
    expect(error(await h.say("a"))).toBe(spent);
    await h.change({ monthlyTokenBudget: null });
    expect(error(await h.say("a"))).toBeUndefined();
    await h.change({ monthlyTokenBudget: 5_000 });
    expect(error(await h.say("a"))).toBeUndefined();
    await h.change({ monthlyTokenBudget: 900 });
    expect(error(await h.say("a"))).toBe(spent);
  });
});

describe("a call of the background", () => {
  const background = async (step: ScriptStep, budget: number | null) => {
    const h = await budgeted(() => step, budget, { fastModel: "fast" });
    const { complete } = ownTurns(h.services);
    const seen = { slug: h.agent.slug, revision: 0 };
    return { ...h, ask: (job = asking()) => complete(seen, "x".repeat(300), job) };
  };

  test("is on the agent's budget", async () => {
    const h = await background(taking(80, 30), 10_000);
    expect(await h.ask()).toBe("Yes.");
    expect(await h.periods()).toEqual([{ month, used: 110, reserved: 0 }]);
  });

  test("that its provider refuses takes nothing", async () => {
    const h = await background({ fail: new Error("no") }, 10_000);
    await expect(h.ask()).rejects.toThrow("Model provider error");
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 0 }]);
  });

  test.each<[string, ScriptStep]>([
    ["breaks off", { parts: [textDelta("Half"), new Error("gone")] }],
    ["is not counted", taking(0, 0)],
  ])("that %s takes what its prompt was held to take, and what it said", async (_, step) => {
    const h = await background(step, 10_000);
    await h.ask().catch(() => {});
    expect(await h.periods()).toEqual([{ month, used: 102, reserved: 0 }]);
  });

  test("that is aborted takes what its prompt was held to take", async () => {
    const h = await background({ opens: new Promise(() => {}) }, 10_000);
    const job = new AbortController();
    const asked = expect(h.ask(asking(job.signal))).rejects.toThrow();
    await h.model.called(1);
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 200 }]);
    job.abort("stop");
    await asked;
    expect(await h.periods()).toEqual([{ month, used: 100, reserved: 0 }]);
  });

  test("is refused when nothing is left, and nothing is asked", async () => {
    const h = await background(reply("Yes."), 150);
    await expect(h.ask()).rejects.toMatchObject({ code: "rate-limited", message: spent });
    expect(h.model.calls).toEqual([]);
    expect(await h.periods()).toEqual([]);
  });

  test("is refused when the agent has no fast model any more, and nothing is asked", async () => {
    const h = await background(reply("Yes."), null);
    await h.change({ fastModel: null });
    await expect(h.ask()).rejects.toMatchObject({ code: "not-found", message: "The agent has no fast model" });
    expect(h.model.calls).toEqual([]);
  });

  test("among many at once is held and charged with the others", async () => {
    const h = await background(taking(80, 30), 10_000);
    const statements = spyOnStatements(h.services.database);
    const job = asking();
    expect(await Promise.all(Array.from({ length: 4 }, () => h.ask(job)))).toEqual(Array(4).fill("Yes."));
    const ofBudget = statements.texts().filter((text) => text.includes("budget_holds"));
    expect(ofBudget).toHaveLength(2);
    expect(await h.periods()).toEqual([{ month, used: 440, reserved: 0 }]);
  });

  test("among many at once is granted where the budget covers it, though not all of them", async () => {
    const h = await background(taking(80, 30), 450);
    const job = asking();
    const asked = await Promise.allSettled(Array.from({ length: 4 }, () => h.ask(job)));
    expect(asked.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    const [refused] = asked.filter((result) => result.status === "rejected");
    expect(refused?.reason).toMatchObject({ code: "rate-limited", message: spent });
    expect(await h.periods()).toEqual([{ month, used: 220, reserved: 0 }]);
  });

  test("whose process died is charged with what was held for it, once", async () => {
    const h = await background({ opens: new Promise(() => {}) }, 10_000);
    const job = new AbortController();
    const asked = expect(h.ask(asking(job.signal))).rejects.toThrow();
    await h.model.called(1);
    await anotherProcess(h).tick();
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 200 }]);
    await h.db.update(budgetHolds).set({ leaseUntil: new Date(0) });
    await anotherProcess(h).tick();
    expect(await h.periods()).toEqual([{ month, used: 200, reserved: 0 }]);
    job.abort("stop");
    await asked;
    expect(await h.periods()).toEqual([{ month, used: 200, reserved: 0 }]);
  });

  test("keeps what is held for it while its process renews the lease", async () => {
    const h = await background(taking(80, 30), 10_000);
    const heartbeat = new Heartbeat(h.services);
    const budget = sharedBudget(h.services, heartbeat);
    const [agent] = await h.db.select({ id: agents.id }).from(agents);
    await budget.reserve({ id: newId(), agentId: agent?.id ?? "", month, tokens: 70, cost: 0 });
    await h.db.update(budgetHolds).set({ leaseUntil: new Date(0) });
    await heartbeat.beat();
    await anotherProcess(h).tick();
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 70 }]);
  });

  /** Makes one statement about holds fail, as one whose answer is lost, or while the database is away. */
  const failing = ({ services: { database } }: ChatHarness, words: string, isCarriedOut: boolean) => {
    const { query } = database;
    database.query = async (statement, parameters) => {
      if (!plainText(statement).includes(words)) return (await query(statement, parameters)) as never;
      if (isCarriedOut) await query(statement, parameters);
      throw new EngineError("unavailable", "The database is unavailable");
    };
    return () => {
      database.query = query;
    };
  };

  test("is charged once the database is back that was away at its end", async () => {
    const h = await background(taking(80, 30), 10_000);
    const back = failing(h, "delete from budget_holds", false);
    const asked = h.ask();
    await h.model.called(1);
    for (let second = 0; second < 60; second += 1) await h.clock.advance(1_000);
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 200 }]);
    back();
    for (let second = 0; second < 4; second += 1) await h.clock.advance(1_000);
    expect(await asked).toBe("Yes.");
    expect(await h.periods()).toEqual([{ month, used: 110, reserved: 0 }]);
  });

  test("is charged once though the answer to that was lost", async () => {
    const h = await background(taking(80, 30), 10_000);
    const back = failing(h, "delete from budget_holds", true);
    const asked = h.ask();
    await eventually(async () => (await h.periods())[0]?.used === 110);
    back();
    for (let second = 0; second < 4; second += 1) await h.clock.advance(1_000);
    expect(await asked).toBe("Yes.");
    expect(await h.periods()).toEqual([{ month, used: 110, reserved: 0 }]);
  });

  test("holds nothing where the answer to its reservation was lost", async () => {
    const h = await background(taking(80, 30), 10_000);
    const back = failing(h, "insert into budget_holds", true);
    await expect(h.ask()).rejects.toMatchObject({ code: "unavailable" });
    back();
    expect(h.model.calls).toEqual([]);
    expect(await h.periods()).toEqual([{ month, used: 0, reserved: 0 }]);
  });

  test("leaves no trace where there is no budget", async () => {
    const h = await background(taking(80, 30), null);
    expect(await h.ask()).toBe("Yes.");
    expect(await h.periods()).toEqual([]);
  });
});

test("tokens that are held for no call are told of by doctor, and released", async () => {
  const h = await budgeted(() => ({ opens: new Promise(() => {}) }), 100_000, { userMonthlyTokenBudget: 100_000 });
  const said = h.say("a");
  await h.model.called(1);
  const { database } = h.services;
  const reserved = async () =>
    [
      ...(await h.periods()),
      ...(await h.db.select({ reserved: userBudgetPeriods.reserved }).from(userBudgetPeriods)),
    ].map((period) => period.reserved);
  const held = await reserved();
  expect(held).toEqual([held[0], held[0]]);
  const check = async () => checkBudgets(await inspectBudgets(database));
  expect(await check()).toEqual({ name: "budgets", status: "ok", message: "All held tokens belong to running calls" });
  await h.db.update(budgetPeriods).set({ reserved: sql`${budgetPeriods.reserved} + 8213` });
  await h.db.update(userBudgetPeriods).set({ reserved: sql`${userBudgetPeriods.reserved} + 7` });
  expect(await check()).toMatchObject({
    status: "warn",
    message: expect.stringContaining(`${h.agent.slug}: 8213 tokens`),
  });
  await h.engine.tick();
  expect([await check(), await reserved()]).toEqual([expect.objectContaining({ status: "ok" }), held]);
  await h.engine.stop(0);
  await said;
  expect(await reserved()).toEqual([0, 0]);
});

test.each([
  null,
  100_000,
])("with a budget of %j a turn takes one statement before the model, and one after it", async (budget) => {
  const h = await budgeted(() => taking(10, 10), budget, { memoryEnabled: false });
  await h.say("a");
  const { database } = h.services;
  const { query } = database;
  const asked: string[] = [];
  database.query = ((...[sql, values]: Parameters<typeof query>) => {
    asked.push(`${h.model.calls.length} ${sql.trim().slice(0, 4)}`);
    return query.call(database, sql, values);
  }) as typeof query;
  await h.say("a");
  expect(asked).toEqual(["1 with", "2 with"]);
  expect(await h.periods()).toHaveLength(budget === null ? 0 : 1);
});

test("the turns of an agent that is deleted take their budget along", async () => {
  const h = await budgeted(() => taking(10, 10), 1_000);
  await h.say("a");
  await h.request(`/api/instances/${h.agent.slug}`, { method: "DELETE", headers: h.agent.headers });
  expect([await h.db.select().from(agents), await h.db.select().from(conversations), await h.periods()]).toEqual([
    [],
    [],
    [],
  ]);
});
