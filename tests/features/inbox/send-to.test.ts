import { asc, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { agents, conversations, messages, optOuts, outbox } from "../../../src/db/schema.ts";
import { sendTo } from "../../../src/features/inbox/index.ts";
import { scriptedModel } from "../../scripted-model.ts";
import { adaTarget, messaging, paragraphs } from "./sending.ts";

describe("a text for a destination", () => {
  test("is sent with the transaction, or not at all", async () => {
    const h = await messaging();
    const undone = h.services.database.transaction(async (tx) => {
      await sendTo(tx, { ...h.place, organizationId: h.organization.id, turnId: null, text: "Never" });
      throw new Error("No");
    });
    await expect(undone).rejects.toThrow("No");
    expect(await h.rows()).toEqual([]);
    const turnId = await h.answer("Hello");
    await Promise.all([h.say("One", { turnId }), h.say("Two", { turnId })]);
    const rows = await h.allSent();
    expect(rows.map(({ part }) => part).sort()).toEqual([0, 10_000, 10_001]);
    expect(h.texts().toSorted()).toEqual(["One", "Re: Hello", "Two"]);
  });

  test("is refused where nothing can be sent, in words", async () => {
    const h = await messaging();
    await h.answer("Hello");
    const turnId = (await h.rows())[0]?.turnId ?? null;
    await expect(h.say(" \n ")).rejects.toMatchObject({ code: "bad-request" });
    await expect(h.say("Hi", { channel: "web" })).rejects.toMatchObject({
      code: "bad-request",
      message: "Nothing can be sent over the channel web",
    });
    await expect(h.say("Hi", { channel: "slack" })).rejects.toMatchObject({
      code: "conflict",
      message: "The agent's channel slack is off: turn it on to send over it",
    });
    await h.db
      .insert(optOuts)
      .values({ agentId: h.agent.id, channel: "telegram", sender: adaTarget, channelId: adaTarget });
    await expect(h.say("Hi", { turnId })).rejects.toMatchObject({
      code: "conflict",
      message: "The person stopped the agent, and has not resumed it",
    });
    await h.say("Bye", { turnId: null });
    await expect(h.say("Hi", { channel: "agent", target: "nobody" })).rejects.toMatchObject({ code: "conflict" });
    await expect(h.say("Hi", { channel: "agent", target: "support" })).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("a text for another agent", () => {
  const told = async () => {
    const h = await messaging();
    const helper = await h.addAgent({ slug: "helper" });
    const tell = (text: string, turnId: string | null = null) =>
      h.say(text, { channel: "agent", target: "helper", turnId });
    const heard = async () =>
      (await h.db.select().from(messages).orderBy(asc(messages.createdAt), asc(messages.seq)))
        .filter(({ content }) => content.includes("Restock"))
        .map(({ role, content }) => [role, content]);
    return { ...h, helper, tell, heard };
  };

  test("is a turn of it, in a conversation with the sender's, and its reply goes nowhere", async () => {
    const h = await told();
    const turnId = await h.answer("Hello");
    await h.tell("Restock the shelf", turnId);
    const rows = await h.allSent();
    expect(rows.at(-1)).toMatchObject({ channel: "agent", attempts: 1, mayBeRepeated: false, providerMessageId: null });
    expect(await h.heard()).toEqual([
      ["user", "Restock the shelf"],
      ["assistant", "Re: Restock the shelf"],
    ]);
    const all = await h.db.select().from(conversations).orderBy(asc(conversations.createdAt));
    const [sender, other] = all;
    expect(other).toMatchObject({
      agentId: h.helper.id,
      channel: "agent",
      parentId: sender?.id,
      subject: `telegram:${adaTarget}`,
      ref: `helper:agent:support:${sender?.id}`,
    });
    expect(h.texts()).toEqual(["Re: Hello"]);
    expect(rows).toHaveLength(2);
  });

  test("without a turn has a conversation of its own, and parts of any length are one message", async () => {
    const h = await told();
    await h.tell(`Restock\n\n${paragraphs(9)}`);
    await h.tell("Restock more");
    await h.allSent();
    expect((await h.heard()).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    const all = await h.db.select().from(conversations);
    expect(all.map(({ ref, subject }) => [ref, subject])).toEqual([
      [`helper:agent:support:${h.agent.id}`, `conversation:helper:agent:support:${h.agent.id}`],
    ]);
  });

  test("is not sent twice: an earlier process's delivery is only noted", async () => {
    const h = await told();
    await h.tell("Restock the shelf");
    await h.allSent();
    await h.db.update(outbox).set({ status: "sending" });
    await h.tell("Restock more");
    await h.allSent();
    expect((await h.heard()).filter(([role]) => role === "user")).toEqual([
      ["user", "Restock the shelf"],
      ["user", "Restock more"],
    ]);
  });

  test("fails where it is switched off, and is refused where it answers no agents", async () => {
    const h = await told();
    await h.tell("One");
    await h.db.update(agents).set({ active: false }).where(eq(agents.id, h.helper.id));
    const [off] = await h.settled(([row]) => row?.status === "failed");
    expect(off?.error).toBe("The agent helper is switched off");
    await h.db.update(agents).set({ active: true }).where(eq(agents.id, h.helper.id));
    await h.request("/api/instances/helper/channels/agent", {
      method: "PUT",
      headers: h.agent.headers,
      json: { enabled: false },
    });
    await expect(h.tell("Two")).rejects.toMatchObject({ code: "conflict" });
  });

  test("has no more time than a question of an agent", async () => {
    const never = new Promise<void>(() => {});
    const h = await messaging({ model: scriptedModel(() => ({ opens: never })) });
    await h.addAgent({ slug: "helper" });
    await h.say("Hi", { channel: "agent", target: "helper" });
    await h.engine.tick();
    await h.model.called(1);
    await h.clock.advance(60_000);
    const [row] = await h.settled(([part]) => part?.status === "failed");
    expect(row).toMatchObject({ attempts: 1, error: "The agent helper did not answer within 60 s" });
  });

  test("is tried again while it can't be served just now", async () => {
    const h = await told();
    let overloaded = true;
    h.services.admission.during = (
      (original) => (share: never, load: never) =>
        overloaded ? Promise.reject(overload()) : original(share, load)
    )(h.services.admission.during.bind(h.services.admission)) as never;
    await h.tell("Restock the shelf");
    const [row] = await h.settled(([part]) => part?.attempts === 1 && part.status === "pending");
    expect(row?.error).toBe("The agent helper could not answer: Too busy");
    overloaded = false;
    await h.later(60_000);
    await h.allSent();
    expect(await h.heard()).toHaveLength(2);
  });
});

const overload = () => new EngineError("unavailable", "Too busy");
