import { APICallError } from "@ai-sdk/provider";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { Models } from "../../../../src/core/ports.ts";
import { agents, eventSources, jobs, rooms } from "../../../../src/db/schema.ts";
import { createEngine } from "../../../../src/engine.ts";
import { ours, answering as streaming } from "../../../adapters/chat-oracle.ts";
import { done, say } from "../../../fake-provider.ts";
import { finish, gate, reply, scriptedModel, text } from "../../../scripted-model.ts";
import { eventually } from "../../chat/chat.ts";
import { answering, matching, promptOf } from "./matching.ts";

const throttling = (seconds: string) =>
  new APICallError({
    message: "Slow down",
    url: "https://model.test",
    requestBodyValues: {},
    statusCode: 429,
    responseHeaders: { "retry-after": seconds },
  });
const down = {
  fail: new APICallError({ message: "Down", url: "https://model.test", requestBodyValues: {}, statusCode: 503 }),
};
const broken = { fail: Object.assign(new Error("sk-secret is wrong"), { statusCode: 400 }) };

describe("an event", () => {
  test("is asked about in order, and goes to the backlog of the first definition that matches", async () => {
    const h = await matching(answering([reply("no"), reply("**Yes**, it is.")]));
    const never = await h.define({
      name: "Refunds",
      matchingPrompt: "A refund",
      conditions: [{ path: "kind", equals: "refund" }],
    });
    const first = await h.define({ name: "Bugs", matchingPrompt: "A bug" });
    const second = await h.define({ matchingPrompt: "An order", action: "backlog" });
    const last = await h.define({ name: "Any", matchingPrompt: "Anything" });
    const event = await h.bring({ kind: "order", n: 7 });
    expect(event).toMatchObject({ outcome: "backlog", definitionId: second, reason: null, conversationRef: null });
    expect(event.verdicts).toMatchObject([
      { definitionId: never, answer: null, matched: false, condition: { path: "kind", equals: "refund" } },
      { definitionId: first, answer: "no", matched: false },
      { definitionId: second, answer: "**Yes**, it is.", matched: true, at: "2026-01-01T00:00:00.000Z" },
    ]);
    expect(JSON.stringify(event.verdicts)).not.toContain(last);
    expect(await h.entries()).toMatchObject([
      {
        id: event.backlogId,
        roomEventId: event.id,
        definitionId: second,
        rawPayload: { kind: "order", n: 7 },
        status: "pending",
      },
    ]);
    expect((await h.db.select().from(rooms))[0]).toMatchObject({ pendingCount: 1 });
    expect(h.model?.calls.map(promptOf).map((prompt) => prompt.split("\n")[2])).toEqual(["A bug", "An order"]);
  });

  test("without a match, or of a source without definitions, ends with no-match", async () => {
    const h = await matching(answering([reply("No."), reply("That depends")]));
    expect(await h.bring(1)).toMatchObject({ outcome: "no-match", verdicts: [] });
    const id = await h.define();
    expect(await h.bring(2)).toMatchObject({ outcome: "no-match", verdicts: [{ definitionId: id, answer: "No." }] });
    expect(await h.bring(3)).toMatchObject({
      outcome: "no-match",
      verdicts: [{ definitionId: id, matched: false, warning: expect.stringMatching(/^The answer begins neither/) }],
    });
    const warnings = h.logs.filter((line) => line.includes('"warn"') && line.includes("begins neither"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).not.toContain("depends");
  });

  test("is judged by what its model says behind its thoughts", async () => {
    // Reasoning alone is no answer: the event is retried.
    const answers = ["<think>yes or no? A fine", "<think>No word of it.\n</think>\n\nYes", "yes?\n</think>\nno"];
    const models: Models = {
      resolve: () =>
        ours(
          "openai-compatible",
          streaming([new TextEncoder().encode([...say(answers.shift() ?? ""), ...done()].join(""))]),
        ),
    };
    const h = await matching(null, { models });
    await h.define({ action: "backlog" });
    for (const outcome of ["pending", "backlog", "no-match"]) expect(await h.bring(1)).toMatchObject({ outcome });
  });

  test("for a Room that is off or missing asks no model; for a full one it is told", async () => {
    const off = await matching(answering([]), { room: { enabled: false } });
    await off.define({ action: "backlog" });
    expect(await off.bring(1)).toMatchObject({ outcome: "room-off", reason: "The Room is off", verdicts: [] });
    const none = await matching(answering([reply("yes")]), { room: null });
    await none.define({ action: "backlog" });
    await none.define({ name: "Talk", conditions: [{ path: "talk", equals: true }] });
    expect(await none.bring(1)).toMatchObject({ outcome: "room-off" });
    // With a conversation still to be matched, the backlog is matched too; its match has no effect.
    expect(await none.bring({ talk: true })).toMatchObject({ outcome: "room-off", verdicts: [{ matched: true }] });
    const full = await matching(answering([reply("yes")]), { room: { pendingCount: 100 } });
    const id = await full.define({ action: "backlog" });
    expect(await full.bring(1)).toMatchObject({
      outcome: "backlog-full",
      definitionId: id,
      reason: "The backlog holds 100 pending entries",
      backlogId: null,
    });
    expect(await full.entries()).toEqual([]);
  });

  test("of an inactive agent, or of a deleted source, asks no model", async () => {
    const h = await matching(answering([]));
    await h.define();
    const id = await h.store(1);
    await h.db.delete(eventSources).where(eq(eventSources.id, h.source.id));
    await h.engine.tick();
    await h.idle();
    expect(await h.event(id)).toMatchObject({ outcome: "no-match", reason: "The event source was deleted" });
    const inactive = await matching(answering([]));
    await inactive.define();
    await inactive.db.update(agents).set({ active: false });
    expect(await inactive.bring(1)).toMatchObject({ outcome: "room-off", reason: "The agent is inactive" });
  });

  test("is asked about with the fast model, else with the agent's own", async () => {
    const asked: string[] = [];
    const models: Models = {
      async resolve({ model }) {
        asked.push(model);
        return scriptedModel([reply("no")]);
      },
      embed: async () => Promise.reject(new Error("Nothing is embedded")),
    };
    for (const fastModel of ["small", null]) {
      const h = await matching(null, { models, agent: { model: "large", fastModel } });
      await h.define();
      await h.bring(1);
    }
    expect(asked).toEqual(["small", "large"]);
  });

  test("is asked about on the agent's budget", async () => {
    const h = await matching(null, { agent: { monthlyTokenBudget: 1 } });
    await h.define();
    expect(await h.bring("order")).toMatchObject({
      outcome: "matcher-failed",
      reason: "The agent's monthly token budget is used up",
      verdicts: [],
    });
  });

  test("is matched by the demo model by the words in quotes", async () => {
    const h = await matching(null);
    const id = await h.define({ matchingPrompt: 'An "order" that is "paid"', action: "backlog" });
    expect(await h.bring({ text: "order 7 was paid" })).toMatchObject({ outcome: "backlog", definitionId: id });
    expect(await h.bring({ text: "order 7" })).toMatchObject({ outcome: "no-match" });
  });
});

test.each([
  "conversation",
  "backlog",
])("a %s definition that is deleted while it is asked leaves the event to others", async (action) => {
  const held = gate();
  const h = await matching(answering([{ parts: [held.promise, ...text("yes"), finish()] }, reply("yes")]));
  const gone = await h.define({ name: "First", action });
  const other = await h.define({ name: "Second", action: "backlog" });
  const id = await h.store({ n: 1 });
  await h.engine.tick();
  await h.model?.called(1);
  await h.remove(`/definitions/${gone}`);
  held.open();
  await h.idle();
  expect(await h.event(id)).toMatchObject({ outcome: "backlog", definitionId: other, attempts: 0 });
  expect(h.logs.join()).not.toContain("A job failed");
});

describe("a model that fails", () => {
  test("is asked three times, also about what it was not asked yet only, and then the ledger says why", async () => {
    const h = await matching(answering([reply("no"), broken, broken, broken]));
    const first = await h.define({ name: "First", action: "backlog" });
    await h.define({ name: "Second", action: "backlog" });
    const { id, ...event } = await h.bring(1);
    expect(event).toMatchObject({ outcome: "pending", attempts: 1, verdicts: [{ definitionId: first }] });
    await h.again();
    expect(await h.event(id)).toMatchObject({ outcome: "pending", attempts: 2 });
    await h.again();
    const last = await h.event(id);
    expect(last).toMatchObject({ outcome: "matcher-failed", definitionId: null, verdicts: [{ definitionId: first }] });
    expect(last.reason).toMatch(/^The model could not be asked about the definition "Second": Model provider error/);
    expect(last.reason).not.toContain("sk-secret");
    expect(h.model?.calls).toHaveLength(4);
    expect(await h.db.select().from(jobs).where(eq(jobs.kind, "room.match"))).toEqual([]);
  });

  test("is asked no more often where its provider says that another try may go well", async () => {
    const h = await matching(answering([down, down, down]));
    await h.define({ action: "backlog" });
    const { id } = await h.bring(1);
    for (const attempts of [1, 2]) {
      expect(await h.event(id)).toMatchObject({ outcome: "pending", attempts });
      expect(h.model?.calls).toHaveLength(attempts);
      await h.again();
    }
    expect(await h.event(id)).toMatchObject({ outcome: "matcher-failed" });
    expect(h.model?.calls).toHaveLength(3);
  });

  test("that answers in the end matches as if nothing had been", async () => {
    const h = await matching(answering([broken, reply("yes")]));
    const id = await h.define({ action: "backlog" });
    const event = await h.bring(1);
    await h.again();
    expect(await h.event(event.id)).toMatchObject({ outcome: "backlog", definitionId: id, attempts: 0, reason: null });
  });

  test("that wants to be asked later is waited for as often as it takes", async () => {
    const throttled = { fail: throttling("60") };
    const h = await matching(answering([throttled, throttled, throttled, throttled, reply("yes")]));
    await h.define({ action: "backlog" });
    const { id } = await h.bring(1);
    for (let n = 0; n < 4; n += 1) {
      expect(await h.event(id)).toMatchObject({ outcome: "pending", attempts: 0 });
      await h.again(61_000);
    }
    expect(await h.event(id)).toMatchObject({ outcome: "backlog" });
  });
});

test("two processes that match an event at once make one entry", async () => {
  const held = gate();
  const slow = { parts: [held.promise, ...text("yes"), finish()] };
  const h = await matching(answering([slow, slow]));
  await h.define({ action: "backlog" });
  const id = await h.store({ n: 1 });
  await h.engine.tick();
  await h.model?.called(1);
  // The lease of the first one is lost, so that another claims the job.
  await h.db.update(jobs).set({ lockedUntil: new Date(0) });
  await createEngine(h.services).tick();
  await h.model?.called(2);
  held.open();
  await eventually(async () => (await h.event(id)).outcome === "backlog");
  await h.idle();
  expect(await h.entries()).toHaveLength(1);
  expect((await h.db.select().from(rooms))[0]).toMatchObject({ pendingCount: 1 });
});
