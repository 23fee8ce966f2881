import { asc, eq, isNotNull } from "drizzle-orm";
import { describe, expect, test, vi } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import type { Database } from "../../../src/db/client.ts";
import { messages, optOuts, outbox, roomEvents, rooms, toolCalls } from "../../../src/db/schema.ts";
import { continuedInRoom } from "../../../src/features/room/index.ts";
import { converseJob } from "../../../src/features/room/ledger/store.ts";
import { sendMessageTool } from "../../../src/features/room/scheduler/tools/send-message.ts";
import { enqueue } from "../../../src/jobs/enqueue.ts";
import { plainText } from "../../plain-text.ts";
import type { ScriptedCall } from "../../scripted-model.ts";
import { adaTarget } from "../inbox/sending.ts";
import { agentWithRoom } from "./backlog/rooms.ts";
import { calling, ending, eventIds, lastText, marking, workingRoom } from "./working.ts";

vi.setConfig({ testTimeout: 120_000 });

const minute = 60_000;
const day = 24 * 60 * minute;

/** A model that makes these calls for its given events, and then ends the turn. */
const once = (calls: (ids: string[]) => [string, unknown][]) => (call: ScriptedCall) =>
  call.prompt.at(-1)?.role === "user" ? calling(...calls(eventIds(lastText(call)))) : ending();

/** The results of the tools of the last turn, in order. */
const results = async (h: Awaited<ReturnType<typeof workingRoom>>) => {
  const said = await h.db.select().from(messages).orderBy(asc(messages.createdAt), asc(messages.seq));
  const steps = (said.at(-1)?.steps ?? []) as { toolResults: { result: unknown }[] }[];
  return steps.flatMap(({ toolResults }) => toolResults.map(({ result }) => result));
};

describe("markEventsCompleted", () => {
  test("completes open entries of the agent's own backlog, and says which are none", async () => {
    const h = await workingRoom(
      once((ids) => [["markEventsCompleted", { eventIds: [...ids, newId(), "nonsense\u0000"] }]]),
    );
    const own = await h.add({ order: 1 });
    await h.tick();
    expect(await h.statuses()).toEqual(["completed 1"]);
    expect(await results(h)).toEqual([{ completed: [own], notWaiting: [expect.any(String), expect.any(String)] }]);
    expect((await h.entries())[0]?.reactNotes).toBeNull();
  });

  test("leaves another agent's entries alone", async () => {
    let foreign = "";
    const h = await workingRoom(once(() => [["markEventsCompleted", { eventIds: [foreign], notes: "Mine" }]]));
    const other = await agentWithRoom(h.services.database);
    const added = await other.add(h.clock.now());
    await h.db.update(rooms).set({ enabled: false }).where(eq(rooms.agentId, other.agentId));
    foreign = added.outcome === "backlog" ? added.backlogId : "";
    await h.add({ order: 1 });
    await h.tick();
    expect(await results(h)).toEqual([{ completed: [], notWaiting: [foreign] }]);
    const all = await h.entries();
    expect(all.find(({ id }) => id === foreign)).toMatchObject({ status: "pending", reactNotes: null });
  });

  test("refuses what is not valid, in words", async () => {
    const h = await workingRoom(once(() => [["markEventsCompleted", { eventIds: [] }]]));
    await h.add({ order: 1 });
    await h.tick();
    expect(await results(h)).toEqual([{ error: expect.stringContaining("eventIds") }]);
  });
});

describe("sendMessageToHuman", () => {
  test("sends to the destination of the event's definition, else to the Room's, and the event waits for the reply", async () => {
    const h = await workingRoom(
      once(([first, second]) => [
        ["sendMessageToHuman", { message: "May I **refund** it?", eventId: first }],
        ["markEventsCompleted", { eventIds: [second] }],
      ]),
    );
    const definition = await h.define({ outboundChannel: "telegram", outboundTarget: "77" });
    await h.add({ refund: 1 }, definition);
    await h.add({ order: 2 });
    await h.tick();
    expect(await h.entries()).toMatchObject([
      { status: "pending", attempts: 0, notBefore: expect.any(Date), error: null, claim: null },
      { status: "completed" },
    ]);
    const sent = await h.db.select().from(outbox);
    expect(sent.map(({ target, body }) => [target, body])).toEqual([["77", "May I **refund** it?"]]);
    await h.tick(day - 31_000);
    expect(h.told()).toHaveLength(1);
    await h.tick(minute);
    expect(h.told()).toHaveLength(2);
  });

  test("without an event concerns all of the turn, and is sent to the Room's destination", async () => {
    const h = await workingRoom(once(() => [["sendMessageToHuman", { message: "What now?" }]]));
    await h.add({ order: 1 });
    await h.add({ order: 2 });
    await h.tick();
    expect(await h.statuses()).toEqual(["pending 0", "pending 0"]);
    await h.allSent();
    expect(h.telegram.sent.map(({ text }) => text)).toEqual(["What now?"]);
  });

  test("has no event wait for another agent, of which no reply comes, and says so", async () => {
    const telling = (call: ScriptedCall) => {
      const [eventId] = eventIds(lastText(call));
      return eventId ? calling(["sendMessageToHuman", { message: "Restock", eventId }]) : ending();
    };
    const h = await workingRoom(telling, { room: { outboundChannel: "agent", outboundTarget: "helper" } });
    await h.addAgent({ slug: "helper" });
    await h.add({ shelf: "empty" });
    await h.tick();
    expect(JSON.stringify(h.model.calls.map(({ prompt }) => prompt.at(-1)))).toContain("no reply comes");
    expect(await h.statuses()).toEqual(["pending 1"]);
    expect((await h.entries())[0]).toMatchObject({
      error: "The agent did not mark it as completed",
      notBefore: new Date(h.clock.now() + minute),
    });
  });

  test("never sends to a destination that the model names, nor to a person who stopped the agent", async () => {
    const ask = { message: "Hi", target: "666", outboundTarget: "666", channel: "slack" };
    const h = await workingRoom(once(() => [["sendMessageToHuman", ask]]));
    await h.add({ order: 1 });
    await h.db
      .insert(optOuts)
      .values({ agentId: h.agent.id, channel: "telegram", sender: adaTarget, channelId: adaTarget });
    await h.tick();
    expect(await results(h)).toEqual([{ error: "The person stopped the agent, and has not resumed it" }]);
    expect(await h.db.select().from(outbox)).toEqual([]);
    // Nothing was asked, so nothing waits for a reply.
    expect(await h.statuses()).toEqual(["pending 1"]);
  });

  test("says so when no person can be told, and when the event is none of the agent's", async () => {
    const h = await workingRoom(
      once(([id]) => [
        ["sendMessageToHuman", { message: "Hi", eventId: id }],
        ["sendMessageToHuman", { message: "Hi", eventId: "42" }],
      ]),
      { room: { outboundChannel: null, outboundTarget: null } },
    );
    await h.add({ order: 1 });
    await h.tick();
    expect(await results(h)).toEqual([
      { error: "Nobody can be told: the operator has set no place to send messages to" },
      { error: "There is no event 42: give its id as you got it, or leave it out" },
    ]);
  });

  test("in a turn for one event knows that event's definition, and touches no entry", async () => {
    const h = await workingRoom(marking);
    const definitionId = await h.define({ outboundChannel: "telegram", outboundTarget: "77" });
    await h.add({ order: 1 });
    const needs = { services: h.services, wake: () => {} };
    const tool = sendMessageTool(needs, { id: h.agent.id, organizationId: h.organization.id }, definitionId);
    expect(JSON.stringify(tool.inputSchema)).not.toContain("eventId");
    const turnId = await h.answer("Hello");
    await tool.execute({ message: "Look!" }, { turnId } as never);
    const sent = await h.db.select().from(outbox).where(eq(outbox.target, "77"));
    expect(sent.map(({ body }) => body)).toEqual(["Look!"]);
    expect((await h.entries())[0]?.notBefore).toBeNull();
  });
});

test("the turn of an event that begins a conversation can send people a message, at its definition's destination", async () => {
  const h = await workingRoom(once(() => [["sendMessageToHuman", { message: "A big order!" }]]));
  const outbound = { outboundChannel: "telegram", outboundTarget: "77" };
  const definitionId = await h.define({ action: "conversation", contextPrompt: "Tell us of {{payload}}", ...outbound });
  const event = { id: newId(), ...h.owner, receivedAt: new Date(h.clock.now()), payload: { order: 1 } };
  const begun = { outcome: "conversation", conversationRef: "room:support:7", definitionId } as const;
  await h.db.insert(roomEvents).values({ ...event, ...begun });
  await enqueue(h.db, converseJob.of({ eventId: event.id, agentId: event.agentId }));
  await h.engine.tick();
  await h.rested();
  const sent = await h.db.select().from(outbox).orderBy(asc(outbox.part));
  expect(sent.map(({ target, body }) => [target, body])).toEqual([
    ["77", "Done."],
    ["77", "A big order!"],
  ]);
});

/** Holds back the statement that ends the waiting of continued turns: such a turn may be done before that statement. */
function holdEndOfWaiting(database: Database): () => void {
  const held = Promise.withResolvers<void>();
  const query = database.query.bind(database);
  const spy = vi.spyOn(database, "query").mockImplementation(async (text, ...rest) => {
    if (plainText(text).startsWith("with ended as")) await held.promise;
    return query(text, ...rest);
  });
  return () => {
    spy.mockRestore();
    held.resolve();
  };
}

describe("a turn that continues after a decision", () => {
  const needsApproval = async (h: Awaited<ReturnType<typeof workingRoom>>) => {
    const json = { enabled: ["httpRequest"], needsApproval: ["httpRequest"] };
    await h.request("/api/instances/support/tools", { method: "PATCH", headers: h.agent.headers, json });
  };
  const decide = async (h: Awaited<ReturnType<typeof workingRoom>>, approved: boolean) => {
    const [call] = await h.db.select().from(toolCalls).where(isNotNull(toolCalls.args));
    const path = `/api/conversations/${encodeURIComponent(h.ref)}/approvals/${call?.toolCallId}`;
    const init = { method: "POST", headers: h.agent.headers, json: { approved } };
    expect((await h.request(path, init)).status).toBe(201);
  };
  const paying = (call: ScriptedCall) => {
    const ids = eventIds(JSON.stringify(call.prompt).replaceAll("\\n", "\n").replaceAll('"text":"', "\n"));
    const last = call.prompt.at(-1);
    if (last?.role === "user") return calling(["httpRequest", { url: "https://shop.example/pay", method: "POST" }]);
    const calledLast = JSON.stringify(last?.content);
    if (calledLast.includes("httpRequest")) return calling(["markEventsCompleted", { eventIds: ids.slice(-1) }]);
    return ending();
  };

  test("has the Room's tools; until then the entries and the Room wait", async () => {
    const h = await workingRoom(paying);
    await needsApproval(h);
    await h.add({ order: 1 });
    await h.tick();
    expect(await h.entries()).toMatchObject([{ status: "pending", attempts: 0, claim: expect.any(String) }]);
    await h.add({ order: 2 });
    await h.tick();
    await h.tick(10 * minute);
    expect(h.told()).toHaveLength(1);
    await decide(h, true);
    await vi.waitFor(async () => expect((await h.statuses())[0]).toBe("completed 0"), { timeout: 20_000 });
    await h.tick();
    await vi.waitFor(() => expect(h.told()).toHaveLength(2), { timeout: 20_000 });
    expect(eventIds(h.told()[1] ?? "")).toHaveLength(1);
  });

  test("and that leaves an entry unmarked gives it back at once", async () => {
    const h = await workingRoom((call) => {
      const last = call.prompt.at(-1);
      if (last?.role === "user" && h.told().length === 1)
        return calling(["httpRequest", { url: "https://shop.example/pay", method: "POST" }]);
      return last?.role === "user" ? marking(call) : ending();
    });
    await needsApproval(h);
    await h.add({ order: 1 });
    await h.tick();
    const release = holdEndOfWaiting(h.services.database);
    await decide(h, false);
    await vi.waitFor(async () => expect(await h.statuses()).toEqual(["completed 1"]), { timeout: 20_000 });
    expect(h.told()).toHaveLength(2);
    release();
  });

  test("reads no more of the history than before: what was summed up stays hidden", async () => {
    const h = await workingRoom((call) => {
      if (call.prompt.at(-1)?.role !== "user") return ending();
      if (h.told().length !== 2) return marking(call);
      return calling(["httpRequest", { url: "https://shop.example/pay", method: "POST" }]);
    });
    await needsApproval(h);
    await h.add({ order: "teapot" });
    await h.tick();
    const summed = { historySummary: "One order is done.", compactedSeq: 2 };
    await h.db.update(rooms).set(summed).where(eq(rooms.agentId, h.agent.id));
    await h.add({ order: "kettle" });
    await h.tick();
    const before = h.model.calls.length;
    await decide(h, false);
    await vi.waitFor(async () => expect(await h.statuses()).toEqual(["completed 1", "completed 1"]), {
      timeout: 20_000,
    });
    const [continued] = h.model.calls.slice(before).map(({ prompt }) => JSON.stringify(prompt));
    expect(continued).toContain("One order is done.");
    expect(continued).toContain("kettle");
    expect(continued).not.toContain("teapot");
  });

  test("for one event has the tool that tells people", async () => {
    const h = await workingRoom(marking);
    const continuedBy = continuedInRoom({ services: h.services, wake: () => {} });
    const conversationRef = "room:support:7";
    await h.db.insert(roomEvents).values({ ...h.owner, receivedAt: new Date(h.clock.now()), conversationRef });
    const place = {
      turnId: newId(),
      agentId: h.agent.id,
      ref: conversationRef,
      channel: "room",
      channelId: "7",
    } as const;
    const names = async (more: object) => (await continuedBy({ ...place, ...more })).tools?.map(({ name }) => name);
    expect(await names({})).toEqual(["sendMessageToHuman"]);
    expect(await names({ ref: h.ref })).toEqual(["markEventsCompleted", "sendMessageToHuman", "compactRoomHistory"]);
    expect(await names({ ref: "room:support:8" })).toBeUndefined();
    expect(await names({ channel: "telegram" })).toBeUndefined();
  });
});
