import { APICallError } from "@ai-sdk/provider";
import { asc, eq } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, conversations, eventBacklog, messages, outbox, rooms, turns } from "../../../src/db/schema.ts";
import { settleDueAt } from "../../../src/features/room/backlog/settle.ts";
import { gate, reply } from "../../scripted-model.ts";
import { eventually } from "../chat/chat.ts";
import { calling, ending, eventIds, lastText, marking, workingRoom } from "./working.ts";

vi.setConfig({ testTimeout: 120_000 });

const minute = 60_000;

describe("a turn of the Room", () => {
  test("claims the waiting events, and completes those the agent marks", async () => {
    const h = await workingRoom(marking, { room: { prompt: "Look after the shop." } });
    const definition = await h.define({ name: "Refund", interpretationPrompt: "Refund {{payload.amount}} at once" });
    const first = await h.add({ order: 1 });
    const second = await h.add({ amount: 7, secret: "hidden from the template" }, definition);
    await h.tick();
    expect(await h.statuses()).toEqual(["completed 1", "completed 1"]);
    const [told = ""] = h.told();
    expect(eventIds(told)).toEqual([first, second]);
    expect(told).toMatch(/^Look after the shop\.\n/);
    expect(told).toMatch(/: New order\n\n<<(\w+)\n\{"order":1\}\n\1>>/);
    expect(told).toMatch(/: Refund\n\nRefund <<(\w+) 7 \1>> at once/);
    expect(told).not.toContain("hidden");
    expect(await h.entries()).toMatchObject([
      { reactNotes: "Looked at it", error: null, completedAt: new Date(h.clock.now()) },
      { id: second },
    ]);
    expect(await h.room()).toMatchObject({ pendingCount: 0, lastEvaluatedAt: new Date(h.clock.now()) });
    const [conversation] = await h.db.select().from(conversations).where(eq(conversations.ref, h.ref));
    const of = { channel: "room", source: "room", subject: `conversation:${h.ref}`, title: "Room" };
    expect(conversation).toMatchObject({ ...of, messageCount: 2 });
    expect(`room:support:${conversation?.channelId}`).toBe(h.ref);
    expect((await h.db.select().from(outbox)).length).toBe(0);
    await h.tick(10 * minute);
    // The next one is proactive, since there is a prompt.
    expect(h.told()).toHaveLength(2);
    expect(h.told()[1]).toContain("No event waits for you.");
  });

  test("shows with the events that it completed why what it sent was not delivered", async () => {
    const h = await workingRoom(marking);
    await h.add({ order: 1 });
    await h.tick();
    const listed = async () => {
      const answer = await h.request("/api/instances/support/room/backlog", { headers: await h.as("owner") });
      return ((await answer.json()) as { events: { status: string; error: string | null }[] }).events;
    };
    expect(await listed()).toMatchObject([{ status: "completed", error: null }]);
    const [turn] = await h.db.select().from(turns).where(eq(turns.door, "room"));
    const [agent] = await h.db.select().from(agents).where(eq(agents.slug, "support"));
    const part = { agentId: agent?.id ?? "", channel: "telegram", target: "42", body: "Done", turnId: turn?.id ?? "" };
    await h.db.insert(outbox).values([
      { ...part, id: newId(), part: 0, status: "failed", error: "Telegram refused it" },
      { ...part, id: newId(), part: 1, status: "failed", error: "An earlier part of the reply was not sent" },
    ]);
    expect(await listed()).toMatchObject([
      { status: "completed", error: "Not delivered on telegram: Telegram refused it" },
    ]);
  });

  test("is not taken without events and without a prompt", async () => {
    const h = await workingRoom(marking);
    for (let n = 0; n < 5; n += 1) await h.tick(10 * minute);
    expect(h.model.calls).toHaveLength(0);
  });

  test("claims ten events at most, and 256 KB of them, and continues with the rest at once", async () => {
    const h = await workingRoom(marking);
    for (let n = 0; n < 12; n += 1) await h.add({ n });
    for (let n = 0; n < 4; n += 1) await h.add({ n, text: "x".repeat(100_000) });
    await h.tick();
    const sizes = h.told().map((told) => eventIds(told).length);
    expect(sizes).toEqual([10, 4, 2]);
    expect(new Set(await h.statuses())).toEqual(new Set(["completed 1"]));
  });

  test("gives back what the agent does not mark, after 1 and 5 minutes, until that has failed three times", async () => {
    const h = await workingRoom(() => ending());
    await h.add({ order: 1 });
    await h.tick();
    const reason = "The agent did not mark it as completed";
    expect(await h.entries()).toMatchObject([{ status: "pending", attempts: 1, error: reason }]);
    await h.tick(59_000);
    expect(h.told()).toHaveLength(1);
    await h.tick(30_000);
    expect(await h.statuses()).toEqual(["pending 2"]);
    await h.tick(4 * minute + 59_000);
    expect(h.told()).toHaveLength(2);
    await h.tick(30_000);
    expect(await h.entries()).toMatchObject([{ status: "failed", attempts: 3, error: reason }]);
    expect(await h.room()).toMatchObject({ pendingCount: 0, dueAt: null });
    await h.tick(60 * minute);
    expect(h.told()).toHaveLength(3);
  });

  test("whose last attempt it is for an event is taken for that event alone", async () => {
    const h = await workingRoom((call) =>
      lastText(call).includes('"poison"') ? { fail: new Error("No") } : marking(call),
    );
    await h.add({ poison: true });
    await h.add({ order: 1 });
    await h.tick();
    await h.tick(5 * minute);
    expect(await h.statuses()).toEqual(["pending 2", "pending 2"]);
    await h.tick(10 * minute);
    expect(await h.entries()).toMatchObject([
      { status: "failed", error: "Model provider error" },
      { status: "completed" },
    ]);
  });

  test("that failed leaves no messages, unless it has called a tool that may not be called again", async () => {
    const h = await workingRoom((call, index) => {
      if (index === 0) return { fail: new Error("No") };
      if (call.prompt.at(-1)?.role === "tool") return { fail: new Error("No") };
      const [id] = eventIds(lastText(call));
      return calling(
        ["httpRequest", { url: "https://shop.example/refund", method: "POST" }],
        ["getState", { key: id }],
      );
    });
    const json = { enabled: ["httpRequest", "getState"] };
    await h.request("/api/instances/support/tools", { method: "PATCH", headers: h.agent.headers, json });
    await h.add({ order: 1 });
    await h.tick();
    expect(await h.entries()).toMatchObject([{ status: "pending", attempts: 1, error: "Model provider error" }]);
    expect(await h.db.select().from(messages)).toEqual([]);
    await h.tick(2 * minute);
    expect(await h.entries()).toMatchObject([
      { status: "failed", error: "Model provider error. It is not tried again, since tools were called" },
    ]);
    expect(await h.turns()).toEqual(["failed", "failed"]);
    expect(await h.db.select().from(messages)).not.toEqual([]);
  });

  test("that its provider has no time for does not count, and is taken when the provider wants it", async () => {
    const busy = new APICallError({
      message: "slow down",
      url: "http://x",
      requestBodyValues: {},
      isRetryable: false,
      statusCode: 429,
      responseHeaders: { "retry-after": "300" },
    });
    const h = await workingRoom((call, index) => (index === 0 ? { fail: busy } : marking(call)));
    await h.add({ order: 1 });
    await h.tick();
    const reason = "Model provider is rate limited: The provider is asked too often (status 429)";
    expect(await h.entries()).toMatchObject([{ status: "pending", attempts: 0, error: reason }]);
    await h.tick(299_000);
    expect(h.told()).toHaveLength(1);
    await h.tick(1_000);
    expect(await h.statuses()).toEqual(["completed 1"]);
  });

  test("that the agent's budget does not cover waits an hour, and does not count", async () => {
    const h = await workingRoom(marking, { agent: { monthlyTokenBudget: 1 } });
    await h.add({ order: 1 });
    await h.tick();
    const [entry] = await h.entries();
    expect(entry).toMatchObject({ status: "pending", attempts: 0, error: expect.stringContaining("budget") });
    expect(entry?.notBefore?.getTime()).toBe(h.clock.now() + 60 * minute);
    expect(h.told()).toHaveLength(0);
  });

  test("of an agent that is switched off, or whose Room is, waits", async () => {
    const h = await workingRoom(marking);
    await h.add({ order: 1 });
    await h.db.update(agents).set({ active: false }).where(eq(agents.id, h.agent.id));
    await h.tick();
    await h.db.update(agents).set({ active: true, revision: 100 }).where(eq(agents.id, h.agent.id));
    await h.db.update(rooms).set({ enabled: false });
    await h.tick();
    expect([h.model.calls.length, await h.statuses()]).toEqual([0, ["pending 0"]]);
    await h.db.update(rooms).set({ enabled: true });
    await h.tick();
    expect(await h.statuses()).toEqual(["completed 1"]);
  });

  test("claims again the events a dead process left, and fails those that kill every process", async () => {
    const h = await workingRoom(marking);
    const [left, worn] = [await h.add({ order: 1 }), await h.add({ order: 2 })];
    const lost = { status: "processing", claim: left, notBefore: null } as const;
    await h.db
      .update(eventBacklog)
      .set({ ...lost, attempts: 1 })
      .where(eq(eventBacklog.id, left));
    await h.db
      .update(eventBacklog)
      .set({ ...lost, attempts: 3 })
      .where(eq(eventBacklog.id, worn));
    await h.tick();
    expect(await h.entries()).toMatchObject([
      { status: "completed", attempts: 2 },
      { status: "failed", attempts: 3, error: "The process ended while the agent worked on it" },
    ]);
    expect(await h.room()).toMatchObject({ pendingCount: 0 });
  });

  test("that is interrupted by a stop is taken by the next process, and does not count", async () => {
    const { promise, open } = gate();
    const h = await workingRoom((call, index) => (index === 0 ? { opens: promise } : marking(call)));
    await h.add({ order: 1 });
    await h.clock.jump(30_000);
    await h.engine.tick();
    await h.model.called(1);
    await h.engine.stop(0);
    open();
    await eventually(async () => (await h.statuses())[0] === "pending 0");
    const [turn] = await h.db.select().from(turns).where(eq(turns.door, "room"));
    expect(turn?.status).toBe("aborted");
  });

  test("that somebody wants is taken at once, without events too", async () => {
    const h = await workingRoom(() => reply("Nothing to do."), { room: { evalIntervalMinutes: 0 } });
    const { headers } = h.agent;
    const run = await h.request("/api/instances/support/room/run", { method: "POST", headers });
    expect(run.status).toBe(201);
    await eventually(async () => (await h.turns())[0] === "done");
    expect(h.told()[0]).toContain("No event waits for you.");
  });

  test("without events comes after the interval, and not while that is 0", async () => {
    const h = await workingRoom(() => reply("Nothing to do."), {
      room: { prompt: "Look around.", evalIntervalMinutes: 30 },
    });
    const settle = () => h.services.database.transaction((tx) => settleDueAt(tx, h.agent.id, h.clock.now()));
    await settle();
    await h.tick(29 * minute);
    expect(h.told()).toHaveLength(0);
    await h.tick(minute);
    expect(h.told()).toHaveLength(1);
    await h.tick(29 * minute);
    expect(h.told()).toHaveLength(1);
    await h.tick(minute);
    expect(h.told()).toHaveLength(2);
    await h.db.update(rooms).set({ evalIntervalMinutes: 0 });
    await settle();
    await h.tick(24 * 60 * minute);
    expect(h.told()).toHaveLength(2);
    const said = await h.db.select().from(messages).orderBy(asc(messages.seq));
    expect(said.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  });
});
