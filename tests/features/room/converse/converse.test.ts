import { eq } from "drizzle-orm";
import { describe, expect, onTestFinished, test } from "vitest";
import { conversations, jobs, optOuts, roomEvents, turns } from "../../../../src/db/schema.ts";
import { createEngine } from "../../../../src/engine.ts";
import { finish, gate, reply, text, toolCall } from "../../../scripted-model.ts";
import { eventually } from "../../chat/chat.ts";
import { answering, matching, promptOf } from "../match/matching.ts";

const start = Date.UTC(2026, 0, 1);
const failing = () => ({ parts: [...text("Half a "), new Error("cut off")] });
const place = { outboundChannel: "telegram", outboundTarget: "42" };

describe("a matched event", () => {
  test("begins a conversation of its own, whose reply is sent to the definition's destination", async () => {
    const h = await matching(answering([reply("yes")], [reply("Order 7 is on its way.")]), {
      room: { outboundChannel: "telegram", outboundTarget: "1" },
    });
    const id = await h.define({ contextPrompt: "Look into order {{payload.n}}.", ...place });
    const event = await h.bring({ n: 7, other: "hidden" });
    const ref = `room:${h.slug}:${start}`;
    expect(event).toMatchObject({ outcome: "conversation", definitionId: id, conversationRef: ref, reason: null });
    expect(await h.db.select().from(conversations).where(eq(conversations.channel, "room"))).toMatchObject([
      {
        ref,
        channel: "room",
        channelId: `${start}`,
        source: "webhook",
        subject: `conversation:${ref}`,
        title: "Orders",
      },
    ]);
    expect(await h.turns()).toMatchObject([
      { status: "done", door: "room", source: "webhook", subject: `conversation:${ref}` },
    ]);
    const prompt = (await h.said())[0] ?? "";
    expect(prompt).toMatch(/^user: Look into order <<[0-9a-f]{24} 7 [0-9a-f]{24}>>\.\n\nWhat stands between/);
    expect(prompt).not.toContain("hidden");
    expect(await h.sent()).toMatchObject([{ channel: "telegram", target: "42", body: "Order 7 is on its way." }]);
    expect(await h.entries()).toEqual([]);
  });

  test("is part of what its readers answer to", async () => {
    const h = await matching(answering([reply("yes")], [reply("Shall I order?")]));
    await h.define(place);
    await h.bring(1);
    await eventually(async () => {
      await h.engine.tick();
      return (await h.said("telegram")).length > 0;
    });
    expect(await h.said("telegram")).toEqual(["assistant: Shall I order?"]);
  });

  test("adds the payload when the prompt does not ask for it, and uses the Room's destination by default", async () => {
    const h = await matching(answering([reply("yes"), reply("yes")], [reply("One."), reply("Two.")]), {
      room: { outboundChannel: "telegram", outboundTarget: "1" },
    });
    await h.define({ contextPrompt: "Have a look." });
    await h.bring({ n: 7 });
    expect((await h.said())[0]).toMatch(/^user: Have a look\.\n\nWhat stands .+\n\n<<([0-9a-f]{24})\n\{"n":7\}\n\1>>$/);
    // Another conversation begins in the same millisecond.
    const second = await h.bring("Ping");
    expect(second.conversationRef).toBe(`room:${h.slug}:${start + 1}`);
    expect(await h.sent()).toMatchObject([
      { target: "1", body: "One." },
      { target: "1", body: "Two." },
    ]);
  });

  test("needs no Room, and without a destination its reply is not sent", async () => {
    const h = await matching(answering([reply("yes")], [reply("Noted.")]), { room: null });
    await h.define();
    expect(await h.bring(null)).toMatchObject({ outcome: "conversation", reason: null });
    expect((await h.said()).at(-1)).toBe("assistant: Noted.");
    expect(await h.sent()).toEqual([]);
  });

  test("is answered once, also when its job is done again", async () => {
    const h = await matching(answering([reply("yes")], [reply("Once.")]));
    await h.define(place);
    const { id } = await h.bring(1);
    await h.db.insert(jobs).values({
      id,
      kind: "room.converse",
      key: id,
      organizationId: h.organization.id,
      payload: { eventId: id },
      runAt: new Date(0),
      maxAttempts: 10,
    });
    await h.engine.tick();
    await h.idle();
    expect(await h.turns()).toHaveLength(1);
    expect(await h.sent()).toHaveLength(1);
  });

  test("whose definition was deleted, or whose agent was switched off, before its turn says so", async () => {
    const deleted = await matching(answering([reply("yes")], [failing()]));
    const definition = await deleted.define();
    const one = await deleted.bring(1);
    await deleted.remove(`/definitions/${definition}`);
    await deleted.again();
    expect(await deleted.event(one.id)).toMatchObject({ reason: "The definition was deleted before the turn began" });
    const off = await matching(answering([reply("yes")], [failing()]));
    await off.define();
    const other = await off.bring(1);
    await off.change("", { active: false });
    await off.again();
    expect(await off.event(other.id)).toMatchObject({ reason: "The agent is inactive" });
    expect(await off.turns()).toHaveLength(1);
  });
});

describe("a turn that fails", () => {
  test("is tried three times, leaves nothing of the first two, and then the ledger says why; no person is told", async () => {
    const h = await matching(answering([reply("yes")], [failing(), failing(), failing()]));
    await h.define(place);
    const { id } = await h.bring(1);
    expect(await h.event(id)).toMatchObject({ outcome: "conversation", attempts: 1, reason: null });
    await h.again();
    expect(await h.event(id)).toMatchObject({ attempts: 2, reason: null });
    expect(await h.said()).toEqual([]);
    await h.again();
    const last = await h.event(id);
    expect(last).toMatchObject({ outcome: "conversation" });
    expect(last.reason).toMatch(/^The turn failed: Model provider error/);
    expect((await h.turns()).map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    expect((await h.said()).at(-1)).toBe("assistant: Half a ");
    expect(await h.sent()).toEqual([]);
    expect(await h.db.select().from(jobs).where(eq(jobs.kind, "room.converse"))).toEqual([]);
  });

  test("and goes well later answers as if nothing had been", async () => {
    const h = await matching(answering([reply("yes")], [failing(), reply("Done.")]));
    await h.define(place);
    const { id } = await h.bring(1);
    await h.again();
    expect(await h.event(id)).toMatchObject({ outcome: "conversation", reason: null });
    expect(await h.sent()).toMatchObject([{ body: "Done." }]);
    expect((await h.said()).map((line) => line.split(":")[0])).toEqual(["user", "assistant"]);
  });

  test("after a tool that may have changed something is not taken again", async () => {
    const step = {
      parts: [...toolCall("c1", "httpRequest", { url: "https://shop.test/orders" }), finish("tool-calls")],
    };
    const h = await matching(answering([reply("yes")], [step, failing(), failing()]));
    await h.change("/tools", { enabled: ["httpRequest"], needsApproval: [] });
    await h.define(place);
    const { reason } = await h.bring(1);
    expect(reason).toMatch(
      /^The turn failed: Model provider error.*\. It is not tried again, since tools were called$/,
    );
    await h.again();
    expect(await h.turns()).toHaveLength(1);
    expect(await h.sent()).toEqual([]);
  });

  test("after such a tool is not taken again either where the process died before the ledger said so", async () => {
    const step = {
      parts: [...toolCall("c1", "httpRequest", { url: "https://shop.test/orders" }), finish("tool-calls")],
    };
    const h = await matching(answering([reply("yes")], [step, failing(), reply("Once more.")]));
    await h.change("/tools", { enabled: ["httpRequest"], needsApproval: [] });
    await h.define(place);
    const { id } = await h.bring(1);
    await h.db.update(roomEvents).set({ reason: null });
    await h.db.insert(jobs).values({
      id,
      kind: "room.converse",
      key: id,
      organizationId: h.organization.id,
      payload: { eventId: id },
      runAt: new Date(0),
      attempts: 1,
      maxAttempts: 10,
    });
    await h.again();
    expect(await h.turns()).toHaveLength(1);
    expect((await h.event(id)).reason).toMatch(/^The turn failed: Model provider error/);
    expect(await h.sent()).toEqual([]);
  });

  test("that somebody stops is over", async () => {
    const held = gate();
    const h = await matching(answering([reply("yes")], [{ parts: [...text("I begin"), held.promise, finish()] }]));
    await h.define(place);
    const id = await h.store(1);
    await h.engine.tick();
    await h.model?.called(2);
    await h.db.update(turns).set({ stopRequested: true });
    await h.engine.renewLeases();
    held.open();
    await eventually(async () => (await h.event(id)).reason === "Somebody stopped the turn");
  });
});

describe("a process that ends while a turn runs", () => {
  const held = async () => {
    const end = gate();
    const slow = { parts: [...text("Half"), end.promise, finish()] };
    const h = await matching(answering([reply("yes")], [slow, reply("Here.")]));
    await h.define(place);
    const id = await h.store(1);
    await h.engine.tick();
    await h.model?.called(2);
    const next = createEngine(h.services);
    onTestFinished(() => next.stop(0));
    const ended = async () => {
      await eventually(async () => {
        await next.tick();
        return (await h.sent()).length > 0;
      });
      expect((await h.sent()).map(({ body }) => body)).toEqual(["Here."]);
      expect((await h.said()).map((line) => line.split(":")[0])).toEqual(["user", "assistant"]);
      expect(await h.event(id)).toMatchObject({ outcome: "conversation", reason: null });
    };
    return { ...h, end, ended };
  };

  test("in order leaves it to the next one", async () => {
    const h = await held();
    await h.engine.stop(0);
    await h.ended();
  });

  test("without a word leaves it to another one, once its leases are over", async () => {
    const h = await held();
    await h.db.update(turns).set({ leaseUntil: new Date(0) });
    await h.db.update(jobs).set({ lockedUntil: new Date(0) });
    await h.ended();
    // The first process continues, and finds its turn closed.
    h.end.open();
    await h.idle();
    expect((await h.turns()).map(({ status }) => status)).toEqual(["lost", "done"]);
    expect(await h.sent()).toHaveLength(1);
  });
});

test("a person who stopped the agent is sent nothing", async () => {
  const h = await matching(answering([reply("yes")], [reply("Psst")]));
  await h.define(place);
  await h.db.insert(optOuts).values({ agentId: h.agentId, channel: "telegram", sender: "42", channelId: "42" });
  await h.bring(1);
  expect((await h.sent()).filter(({ status }) => status === "sent")).toEqual([]);
  expect(h.model?.calls.map(promptOf)).toHaveLength(2);
});

test("the turn of an event can send people a message, at the definition's destination", async () => {
  const tell = {
    parts: [...toolCall("c1", "sendMessageToHuman", { message: "Order 7 is late." }), finish("tool-calls")],
  };
  const h = await matching(answering([reply("yes")], [tell, reply("Told.")]));
  await h.define(place);
  expect(await h.bring(7)).toMatchObject({ outcome: "conversation", reason: null });
  expect((await h.sent()).map(({ target, body }) => `${target}: ${body}`).toSorted()).toEqual([
    "42: Order 7 is late.",
    "42: Told.",
  ]);
});
