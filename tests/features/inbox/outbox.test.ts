import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { agents, channels, jobs, optOuts, outbox } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { telegramToken } from "../../messengers/telegram-server.ts";
import { eventually } from "../chat/chat.ts";
import { adaTarget, messaging, paragraphs } from "./sending.ts";

const minuteMs = 60_000;
const refusal = (status: number, description: string, parameters?: object) => ({
  status,
  json: { ok: false, error_code: status, description, ...(parameters ? { parameters } : {}) },
});

describe("the outbox", () => {
  test("sends a reply to its destination, notes its id and when the channel last sent", async () => {
    const h = await messaging();
    const turnId = await h.answer("Hello");
    const [row] = await h.allSent();
    expect(h.telegram.sent).toMatchObject([{ chatId: Number(adaTarget), text: "Re: Hello" }]);
    expect(row).toMatchObject({ turnId, attempts: 1, mayBeRepeated: false, error: null });
    expect(row?.providerMessageId).toBe(String(h.telegram.sent[0]?.messageId));
    expect(row?.sentAt?.getTime()).toBe(h.clock.now());
    expect(await h.channel()).toMatchObject({ lastSentAt: new Date(h.clock.now()), lastError: null });
    // The job ends after the last message was sent.
    await expect.poll(() => h.db.select().from(jobs).where(eq(jobs.kind, "outbox.send"))).toEqual([]);
  });

  test("sends long replies in parts, in order, and another reply behind them", async () => {
    const h = await messaging();
    await h.answer(paragraphs(9));
    await h.answer("Next");
    const rows = await h.allSent();
    expect(rows.map(({ part }) => part)).toEqual([0, 1, 2, 0]);
    expect(h.texts().map((text) => text.slice(0, 6))).toEqual([
      "Re: 1.",
      expect.any(String),
      expect.any(String),
      "Re: Ne",
    ]);
    expect(h.texts().join("\n\n").replaceAll(/\s+/g, " ")).toContain("word 9. word");
  });

  test("sends the waiting messages of one chat once, however many replicas look", async () => {
    const h = await messaging();
    const others = [createEngine(h.services), createEngine(h.services)];
    for (const text of ["one", "two", "three", "four"]) await h.answer(text);
    await h.allSent([h.engine, ...others]);
    expect(h.texts()).toEqual(["Re: one", "Re: two", "Re: three", "Re: four"]);
    for (const other of others) await other.stop(0);
  });

  test("sends as plain text what the messenger does not take as markup", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", refusal(400, "Bad Request: can't parse entities: too odd"));
    await h.say("**Hi**");
    await h.allSent();
    expect(h.telegram.sent).toMatchObject([{ text: "**Hi**", html: false }]);
  });

  test("waits as long as the messenger asks, also when more is to be sent, and counts that as no attempt", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", refusal(429, "Too Many Requests: retry after 90", { retry_after: 90 }));
    await h.say("one");
    const [waiting] = await h.settled(([row]) => row?.retryAt != null);
    expect(waiting).toMatchObject({ status: "pending", attempts: 0, error: "Telegram asks to send less often" });
    const asked = h.telegram.requests.length;
    await h.say("two");
    await h.clock.jump(60_000);
    for (let n = 0; n < 3; n += 1) await h.engine.tick();
    await eventually(async () => (await h.db.select().from(jobs)).every(({ lockedUntil }) => lockedUntil === null));
    expect(h.telegram.requests).toHaveLength(asked);
    await h.clock.jump(32_000);
    await h.allSent();
    expect(h.texts()).toEqual(["one", "two"]);
    expect(await h.channel()).toMatchObject({ lastError: null, status: "running" });
  });

  test("tries again after a failure that passes, with longer and longer rests, and gives up in the end", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", ...Array.from({ length: 10 }, () => refusal(502, "Bad Gateway")));
    await h.say("one");
    for (let attempt = 1; attempt < 10; attempt += 1) {
      await h.settled(([row]) => row?.attempts === attempt && row.status === "pending");
      await h.later(16 * minuteMs);
    }
    const [row] = await h.settled(([part]) => part?.status === "failed");
    expect(row).toMatchObject({ attempts: 10, error: "Telegram refused sendMessage (502): Bad Gateway" });
    expect((await h.channel())?.lastError).toBe("Telegram refused sendMessage (502): Bad Gateway");
    expect(h.logs.some((line) => line.includes("A message could not be sent"))).toBe(true);
    // Later messages are sent, and the channel works again.
    await h.later(2 * minuteMs);
    await h.say("two");
    await h.settled((all) => all.at(-1)?.status === "sent");
    expect((await h.channel())?.lastError).toBe(null);
  });

  test("gives a reply up whose person blocked the agent, with its later parts, and continues with the next one", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", refusal(403, "Forbidden: bot was blocked by the user"));
    await h.answer(paragraphs(9));
    await h.answer("Next");
    const rows = await h.settled((all) => all.every(({ status }) => status === "sent" || status === "failed"));
    expect(rows.map(({ status, error }) => [status, error])).toEqual([
      ["failed", "Telegram refused sendMessage (403): Forbidden: bot was blocked by the user"],
      ["failed", "An earlier part of the reply was not sent"],
      ["failed", "An earlier part of the reply was not sent"],
      ["sent", null],
    ]);
    expect(h.texts()).toEqual(["Re: Next"]);
  });

  test("tells of a refusal to one person with the message and the channel, and names the agent in the log", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", refusal(502, "Bad Gateway"));
    await h.say("First");
    await h.settled(([row]) => row?.error != null);
    const outage = "Telegram refused sendMessage (502): Bad Gateway";
    expect((await h.channel())?.lastError).toBe(outage);
    h.telegram.fail("sendMessage", refusal(403, "Forbidden: bot was blocked by the user"));
    await h.later(minuteMs);
    const [row] = await h.settled(([part]) => part?.status === "failed");
    expect(row?.error).toContain("blocked by the user");
    const since = new Date(h.clock.now() - minuteMs);
    expect(await h.channel()).toMatchObject({ status: "running", lastError: row?.error, errorSince: since });
    const line = JSON.parse(h.logs.find((one) => one.includes("A message could not be sent")) ?? "{}");
    expect(line).toMatchObject({ agent: "support", channel: "telegram", messageId: row?.id });
    expect(line).not.toHaveProperty("agentId");
  });

  test("tells of a refusal that meets everybody with the channel too, until a message leaves", async () => {
    const h = await messaging();
    await h.turnOn(h.agent.id, "slack");
    const lacking = { json: { ok: false, error: "missing_scope", needed: "chat:write" } };
    h.slack.fail("chat.postMessage", lacking);
    await h.say("First", { channel: "slack", target: "C1" });
    await h.settled(([row]) => row?.status === "failed");
    const lastError = "The Slack app lacks the scope chat:write: add it and install the app again";
    expect(await h.channel("slack")).toMatchObject({ status: "running", lastError });
    h.slack.fail("chat.postMessage", { json: { ok: false, error: "is_archived" } });
    await h.say("Second", { channel: "slack", target: "C1" });
    await h.settled(([, row]) => row?.status === "failed");
    const archived = "This Slack channel is archived (is_archived)";
    expect(await h.channel("slack")).toMatchObject({ status: "running", lastError: archived });
    await h.say("Third", { channel: "slack", target: "C2" });
    await h.settled(([, , row]) => row?.status === "sent");
    expect(await h.channel("slack")).toMatchObject({ status: "running", lastError: null, errorSince: null });
  });

  test("shows a channel as failing whose credentials are refused", async () => {
    const h = await messaging();
    await h.turnOn(h.agent.id, "telegram", { botToken: `${1}:${"A".repeat(30)}` });
    await h.say("Hi");
    await h.settled(([row]) => row?.status === "failed");
    expect(await h.channel()).toMatchObject({
      status: "failing",
      lastError: "Telegram does not know the bot token: copy it from @BotFather again",
    });
  });

  test("sends nothing over a channel that was turned off meanwhile, nor for an agent that was", async () => {
    const h = await messaging();
    await h.say("one");
    await h.say("two");
    await h.db.update(channels).set({ enabled: false });
    const off = await h.settled((all) => all.every(({ status }) => status === "failed"));
    expect(off.map(({ error }) => error)).toEqual(Array(2).fill("The agent's channel telegram is off"));
    await h.db.update(channels).set({ enabled: true });
    await h.say("three");
    await h.db.update(agents).set({ active: false });
    const [, , last] = await h.settled((all) => all.at(-1)?.status === "failed");
    expect(last?.error).toBe("The agent is switched off");
    expect(h.telegram.sent).toEqual([]);
  });

  test("ends with its agent", async () => {
    const h = await messaging();
    await h.say("one");
    const deleted = await h.request(`/api/instances/${h.agent.slug}`, { method: "DELETE", headers: h.agent.headers });
    expect(deleted.status).toBe(200);
    await h.engine.tick();
    await eventually(async () => (await h.db.select().from(jobs)).length === 0);
    expect(h.telegram.sent).toEqual([]);
    expect(await h.rows()).toEqual([]);
  });

  test("sends no reply to a person who stopped the agent meanwhile, but the engine's own notice", async () => {
    const h = await messaging();
    await h.answer("Hello");
    const stopped = { agentId: h.agent.id, channel: "telegram", sender: adaTarget, channelId: adaTarget };
    await h.db.insert(optOuts).values(stopped);
    await h.say("You hear no more from me.");
    const rows = await h.settled((all) => all.every(({ status }) => status === "sent" || status === "failed"));
    expect(rows.map(({ status, error }) => [status, error])).toEqual([
      ["failed", "The person stopped the agent"],
      ["sent", null],
    ]);
    expect(h.texts()).toEqual(["You hear no more from me."]);
  });

  test("sends no reply to a person whom the operator took off the channel's list, but what the operator sends there", async () => {
    const h = await messaging();
    await h.answer("Hello");
    await h.turnOn(h.agent.id, "telegram", { botToken: telegramToken, allowedUserIds: "7" });
    await h.say("From the operator's Room.");
    const rows = await h.settled((all) => all.every(({ status }) => status === "sent" || status === "failed"));
    expect(rows.map(({ status, error }) => [status, error])).toEqual([
      ["failed", "The channel's allowedUserIds does not name the person"],
      ["sent", null],
    ]);
    expect(h.texts()).toEqual(["From the operator's Room."]);
  });
});

describe("a message whose answer was lost", () => {
  test("is sent once more, and marked", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", "reset");
    await h.say("one");
    const [lost] = await h.settled(([row]) => row?.retryAt != null);
    expect(lost).toMatchObject({ status: "sending", mayBeRepeated: false, attempts: 1 });
    await h.later(6_000);
    const [sent] = await h.allSent();
    expect(sent).toMatchObject({ mayBeRepeated: true, attempts: 2 });
    expect(h.texts()).toEqual(["one"]);
  });

  test("twice, is given up: it was perhaps delivered twice", async () => {
    const h = await messaging();
    h.telegram.fail("sendMessage", "reset", "reset");
    await h.say("one");
    await h.settled(([row]) => row?.retryAt != null);
    await h.later(6_000);
    const [row] = await h.settled(([part]) => part?.status === "failed");
    expect(row).toMatchObject({ mayBeRepeated: true, attempts: 2 });
    expect(row?.error).toMatch(/^Telegram cannot be reached .*; it may have been delivered all the same$/);
    expect(h.texts()).toEqual([]);
  });

  test("to a process that ended, is sent once more; when the next one ends too, no more", async () => {
    const h = await messaging();
    await h.say("one");
    const left = { status: "sending", attempts: 1 };
    await h.db.update(outbox).set(left);
    const [sent] = await h.allSent();
    expect(sent).toMatchObject({ mayBeRepeated: true, attempts: 2 });
    await h.say("two");
    await h.db
      .update(outbox)
      .set({ ...left, mayBeRepeated: true })
      .where(eq(outbox.status, "pending"));
    const rows = await h.settled((all) => all.at(-1)?.status === "failed");
    expect(rows.at(-1)?.error).toBe("It may have been delivered: the server ended twice while it was sent");
    expect(h.texts()).toEqual(["one"]);
  });
});

test("a messenger that hangs holds up neither other agents nor other channels, and is asked by one call at a time", async () => {
  const h = await messaging();
  const other = await h.addAgent({ slug: "other" });
  await h.turnOn(other.id, "slack");
  h.telegram.fail("sendMessage", ...Array.from({ length: 200 }, () => "hang" as const));
  for (let n = 0; n < 40; n += 1) await h.say("Hi", { target: String(1000 + n) });
  await h.engine.tick();
  const asked = () => h.telegram.requests.filter(({ path }) => path.includes("sendMessage")).length;
  await eventually(async () => asked() === 32);
  // The organization's slots are all used, until the calls are aborted.
  await h.say("Hello", { agentId: other.id, channel: "slack", target: "C1" });
  await h.clock.advance(10_000);
  await h.settled(() => h.slack.sent.length === 1);
  await eventually(async () => (await h.db.select().from(jobs)).every(({ lockedUntil }) => lockedUntil === null));
  // After that, one call tests whether the messenger is back.
  const before = asked();
  await h.clock.jump(90_000);
  await h.engine.tick();
  await eventually(async () => asked() > before);
  for (let n = 0; n < 3; n += 1) await h.engine.tick();
  expect(asked()).toBe(before + 1);
});
