import { promisify } from "node:util";
import { and, eq, sql } from "drizzle-orm";
import { expect, onTestFinished, test } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import type { Services } from "../../../src/context/ctx.ts";
import type { MessengerName, Messengers } from "../../../src/core/channels/messengers.ts";
import { agents, channels, inbox } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { forTest } from "../../adapters/messengers/accounts.ts";
import { harness } from "../../harness.ts";
import { slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { saveChannel } from "./messengers.ts";

const otherToken = `987654321:${"o".repeat(35)}`;

const fieldsOf = {
  telegram: { botToken: telegramToken, transport: "polling" },
  slack: { botToken: slackTokens.botToken, appToken: slackTokens.appToken, transport: "socket" },
} as const;

const waits = (body: string) => (JSON.parse(body) as { timeout: number }).timeout > 0;

/** An agent on stand-ins for Telegram and Slack; `start` sets a channel up. `engine` is one process, `replica()` another. */
async function following() {
  const telegram = await forTest(telegramServer());
  const slack = await forTest(slackServer());
  const bases = { telegram: telegram.base, slack: slack.base };
  const messengers = (): Messengers => ({
    account: (...of) => createMessengers({ clock: systemClock, bases }).account(...of),
  });
  const h = await harness({ messengers: messengers() });
  const { db } = h.services.database;
  const agent = await h.agent();
  const [row] = await db.select().from(agents).where(eq(agents.slug, agent.slug));
  if (!row) throw new Error("There is no agent");

  const isChannel = (name: MessengerName) => and(eq(channels.agentId, row.id), eq(channels.type, name));
  const start = async (name: "telegram" | "slack", fields: Record<string, string> = {}) => {
    const path = `/api/instances/${agent.slug}/channels/${name}`;
    const config = { ...fieldsOf[name], ...fields };
    const answer = await h.request(path, { method: "PUT", headers: agent.headers, json: { enabled: true, config } });
    expect(answer.status).toBe(200);
    await expect.poll(async () => (await channel(name))?.transport).toBe(config.transport);
  };
  const channel = async (name: MessengerName = "telegram") =>
    (await db.select().from(channels).where(isChannel(name)))[0];
  return {
    ...h,
    db,
    telegram,
    slack,
    agent: { ...agent, id: row.id },
    another: h.agent,
    start,
    channel,
    useTelegramAt(base: string) {
      bases.telegram = base;
    },
    texts: async () =>
      (await db.select().from(inbox).orderBy(inbox.createdAt, inbox.seq)).map(
        ({ payload }) => (payload as { text: string }).text,
      ),
    /** Another process on the same database and with the same clock. */
    replica: (more: Partial<Services> = {}) => {
      const engine = createEngine({ ...h.services, messengers: messengers(), ...more });
      onTestFinished(() => engine.stop(0));
      return engine;
    },
    /** Lets time pass for the leases, which use the clock of the database. */
    age: (ms: number) => db.execute(sql`update channels set followed_until = followed_until - ${ms} * interval '1 ms'`),
    /** The number of calls waiting for Telegram's answer. */
    connections: () => {
      telegram.server.closeIdleConnections();
      return promisify(telegram.server.getConnections.bind(telegram.server))();
    },
    /** The number of polls that Telegram got. */
    polls: () => telegram.requests.filter(({ path, body }) => path.endsWith("/getUpdates") && waits(body)).length,
    asked: () => telegram.requests.filter(({ path }) => path.endsWith("/getUpdates")).length,
  };
}

test("Telegram is polled as soon as the channel is started, and each message is stored once", async () => {
  const t = await following();
  await t.engine.renewLeases();
  expect(t.polls()).toBe(0);
  await t.start("telegram");
  await expect.poll(t.polls).toBe(1);
  await t.telegram.say("Hello");
  await expect.poll(t.texts).toEqual(["Hello"]);
  await expect.poll(async () => t.channel()).toMatchObject({ status: "running", lastError: null });
  await t.telegram.say("Again");
  await expect.poll(t.texts).toEqual(["Hello", "Again"]);
});

test("Slack is followed by its socket, and an event that comes twice is stored once", async () => {
  const t = await following();
  await t.engine.renewLeases();
  await t.start("slack");
  await expect.poll(() => t.slack.peers.length).toBe(1);
  const ts = "1767225600.000042";
  await t.slack.say("Hello", { ts });
  await t.slack.say("Hello", { ts });
  await t.slack.say("Bye");
  await expect.poll(() => t.slack.acknowledged.length).toBe(3);
  expect(await t.texts()).toEqual(["Hello", "Bye"]);
  expect(t.slack.unacknowledged.size).toBe(0);
  expect((await t.channel("slack"))?.status).toBe("running");
});

test("a message whose storing fails is not acknowledged, and comes again", async () => {
  const t = await following();
  await t.start("telegram");
  let fails = true;
  const { database } = t.services;
  const transaction: typeof database.transaction = (...args) =>
    fails ? Promise.reject(new Error("The database is away")) : database.transaction(...args);
  const engine = t.replica({
    database: { ...database, db: database.db, query: database.query.bind(database), transaction },
  });
  await engine.renewLeases();
  await t.telegram.say("Hello");
  await expect.poll(() => t.logs.some((line) => line.includes("they come again"))).toBe(true);
  fails = false;
  await expect.poll(t.texts).toEqual(["Hello"]);
});

test("Telegram's updates wait there while too many messages wait here, and are stored once there is space", async () => {
  const t = await following();
  await t.engine.renewLeases();
  await t.start("telegram");
  await t.db.execute(sql`
    with made as (
      insert into conversations (id, agent_id, organization_id, ref, channel, channel_id, subject)
      select gen_random_uuid(), id, organization_id, 'full', 'telegram', 'full', 'full' from agents returning id, agent_id
    )
    insert into inbox (id, agent_id, channel, provider_id, conversation_id, seq, sender, payload)
    select gen_random_uuid(), agent_id, 'telegram', n, id, n, 'full', '{}'::jsonb from made, generate_series(1, 5000) n`);
  await expect.poll(t.polls).toBe(1);
  await t.telegram.say("Hello");
  const warnings = () => t.logs.map((line) => JSON.parse(line)).filter(({ level }) => level === "warn");
  const message = "Messages are refused: too many wait to be answered";
  await expect.poll(warnings).toMatchObject([{ message }]);
  await t.db.update(inbox).set({ status: "done" });
  await t.clock.jump(5_000);
  const said = async () => (await t.texts()).filter((text) => text !== undefined);
  await expect.poll(said, { timeout: 10_000 }).toEqual(["Hello"]);
  expect(warnings()).toHaveLength(1);
});

test("updates stored but not acknowledged when the process died are stored once", async () => {
  const t = await following();
  await t.start("telegram");
  const dying = t.replica();
  await dying.renewLeases();
  await expect.poll(t.polls).toBe(1);
  // The poll that would acknowledge the message is lost.
  t.telegram.fail("/getUpdates", "hang");
  await t.telegram.say("Hello");
  await expect.poll(t.texts).toEqual(["Hello"]);
  await expect.poll(t.polls).toBe(2);
  await dying.stop(0);
  expect(t.telegram.updates).toHaveLength(1);
  await t.engine.renewLeases();
  await t.telegram.say("Bye");
  await expect.poll(t.texts).toEqual(["Hello", "Bye"]);
  await expect.poll(() => t.telegram.updates.length).toBe(0);
});

test("one process follows a channel; another one takes it when the lease of a dead one ends", async () => {
  const t = await following();
  await t.start("telegram");
  const dead = t.replica();
  await dead.renewLeases();
  await expect.poll(t.polls).toBe(1);
  const first = (await t.channel())?.followedBy;
  await t.engine.renewLeases();
  await t.clock.advance(26_000);
  await t.engine.renewLeases();
  expect((await t.channel())?.followedBy).toBe(first);
  // The first one does not renew its lease, and stops before it ends: Telegram would refuse two.
  await t.clock.advance(2_000);
  await expect.poll(t.connections).toBe(0);
  await t.age(15_000);
  await t.engine.renewLeases();
  expect((await t.channel())?.followedBy).toBe(first);
  await t.age(15_000);
  await t.engine.renewLeases();
  const second = (await t.channel())?.followedBy;
  expect(second).not.toBe(first);
  await expect.poll(t.polls).toBe(2);
  await t.telegram.say("Hello");
  await expect.poll(t.texts).toEqual(["Hello"]);
  expect((await t.channel())?.status).toBe("running");
});

test("a start that is alone on its database follows at once what the process before it followed", async () => {
  const t = await following();
  await t.start("telegram");
  await t.replica().renewLeases();
  const first = (await t.channel())?.followedBy;
  expect(first).not.toBeNull();
  await t.replica({ options: { ...t.services.options, soleProcess: true } }).boot({});
  await expect.poll(async () => (await t.channel())?.followedBy).not.toBe(first);
});

test("a lease is renewed while it is followed", async () => {
  const t = await following();
  await t.start("telegram");
  await t.engine.renewLeases();
  const other = t.replica();
  const owner = (await t.channel())?.followedBy;
  for (let tick = 0; tick < 20; tick += 1) {
    await t.clock.advance(5_000);
    await t.age(5_000);
    await t.engine.renewLeases();
    await other.renewLeases();
  }
  expect((await t.channel())?.followedBy).toBe(owner);
  await t.telegram.say("Hello");
  await expect.poll(t.texts).toEqual(["Hello"]);
  expect(t.polls()).toBeLessThanOrEqual(2);
});

test("a process that stops gives up its lease, and another one takes over at once", async () => {
  const t = await following();
  await t.start("telegram");
  const stopping = t.replica();
  await stopping.renewLeases();
  await t.engine.renewLeases();
  await expect.poll(t.polls).toBe(1);
  await stopping.stop(0);
  await expect.poll(t.polls).toBe(2);
  await t.telegram.say("Hello");
  await expect.poll(t.texts).toEqual(["Hello"]);
});

test("replicas share many channels", async () => {
  const t = await following();
  for (let index = 0; index < 20; index += 1) {
    const { slug } = await t.another();
    await saveChannel(t, slug, "telegram", {
      fields: { ...fieldsOf.telegram, botToken: `${1_000 + index}:${"x".repeat(35)}` },
    });
  }
  await t.db.update(channels).set({ transport: "polling" }).where(eq(channels.type, "telegram"));
  const other = t.replica();
  await t.engine.renewLeases();
  await other.renewLeases();
  const rows = await t.db.select().from(channels).where(eq(channels.type, "telegram"));
  const shares = [...Map.groupBy(rows, ({ followedBy }) => followedBy).values()].map(({ length }) => length).sort();
  expect(shares).toEqual([16, 4].sort());
});

test("changed credentials are used at once, and the old ones no more", async () => {
  const t = await following();
  await t.start("telegram");
  await t.engine.renewLeases();
  await expect.poll(t.polls).toBe(1);
  const other = await forTest(telegramServer({ token: otherToken }));
  const path = `/api/instances/${t.agent.slug}/channels/telegram`;
  const config = { botToken: otherToken };
  t.useTelegramAt(other.base);
  expect((await t.request(path, { method: "PUT", headers: t.agent.headers, json: { config } })).status).toBe(200);
  await expect.poll(t.connections).toBe(0);
  await other.say("Hello");
  await expect.poll(t.texts).toEqual(["Hello"]);
  expect(t.logs.some((line) => line.includes(otherToken) || line.includes(telegramToken))).toBe(false);
});

test("revoked credentials are reported, and the channel runs again with new ones", async () => {
  const t = await following();
  await t.start("telegram");
  t.telegram.fail("/getUpdates", { status: 401, json: { ok: false, description: "Unauthorized" } });
  await t.engine.renewLeases();
  await expect
    .poll(async () => t.channel())
    .toMatchObject({
      status: "failing",
      lastError: "Telegram does not know the bot token: copy it from @BotFather again",
    });
  expect(t.asked()).toBe(1);
  await t.start("telegram");
  await t.telegram.say("Hello");
  await expect.poll(async () => t.channel()).toMatchObject({ status: "running", lastError: null });
  await expect.poll(t.texts).toEqual(["Hello"]);
});

test("a channel that gets a webhook is no longer polled, and polled again without", async () => {
  const t = await following();
  await t.start("telegram");
  await t.engine.renewLeases();
  await expect.poll(t.polls).toBe(1);
  await t.start("telegram", { transport: "webhook" });
  await expect.poll(t.connections).toBe(0);
  expect(await t.channel()).toMatchObject({ status: "running", followedBy: null });
  expect(t.telegram.webhook()).not.toBeNull();
  // No server is at the webhook's address, so the message waits at Telegram.
  await t.telegram.say("Hello");
  expect(await t.texts()).toEqual([]);
  await t.start("telegram");
  await expect.poll(t.texts).toEqual(["Hello"]);
  expect(t.telegram.webhook()).toBeNull();
  await expect.poll(async () => (await t.channel())?.status).toBe("running");
});

test("a channel that is turned off is no longer polled", async () => {
  const t = await following();
  await t.start("slack");
  await t.engine.renewLeases();
  await expect.poll(() => t.slack.peers.length).toBe(1);
  const path = `/api/instances/${t.agent.slug}/channels/slack`;
  await t.request(path, { method: "PUT", headers: t.agent.headers, json: { enabled: false } });
  await expect.poll(() => t.slack.peers.length).toBe(0);
  expect(await t.channel("slack")).toMatchObject({ status: "off", followedBy: null });
});

test("the follower of a deleted agent ends", async () => {
  const t = await following();
  await t.start("telegram");
  await t.engine.renewLeases();
  await expect.poll(t.polls).toBe(1);
  await t.request(`/api/instances/${t.agent.slug}`, { method: "DELETE", headers: t.agent.headers });
  await expect.poll(t.connections).toBe(0);
  await t.telegram.say("Hello");
  expect(t.polls()).toBe(1);
  expect(t.telegram.updates).toHaveLength(1);
});

test("while the agent is off, incoming messages are dropped, as from a webhook", async () => {
  const t = await following();
  await t.start("telegram");
  await t.engine.renewLeases();
  await t.request(`/api/instances/${t.agent.slug}`, {
    method: "PATCH",
    headers: t.agent.headers,
    json: { active: false },
  });
  await t.telegram.say("Hello");
  await expect.poll(t.polls).toBe(2);
  await t.request(`/api/instances/${t.agent.slug}`, {
    method: "PATCH",
    headers: t.agent.headers,
    json: { active: true },
  });
  await t.telegram.say("Are you there?");
  await expect.poll(t.texts).toEqual(["Are you there?"]);
});

test("failures are shown in words, and pauses grow until the messenger is reached", async () => {
  const t = await following();
  t.telegram.fail("/getUpdates", ...Array.from({ length: 3 }, () => ({ status: 502, json: { ok: false } })));
  await t.start("telegram");
  await t.engine.renewLeases();
  const error = "Telegram refused getUpdates (502)";
  await expect.poll(async () => t.channel()).toMatchObject({ status: "failing", lastError: error });
  const at = [t.clock.now()];
  while (at.length < 4) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await t.clock.advance(100);
    if (t.asked() > at.length) at.push(t.clock.now());
  }
  const pauses = at.slice(1).map((ms, index) => ms - (at[index] ?? 0));
  expect(pauses.map((ms, index) => ms >= 1_000 * 2 ** index)).toEqual([true, true, true]);
  await t.telegram.say("Hello");
  await expect.poll(async () => t.channel()).toMatchObject({ status: "running", lastError: null });
  await expect.poll(t.texts).toEqual(["Hello"]);
  expect(t.logs.filter((line) => line.includes(error))).toHaveLength(1);
});

test("a heartbeat of a process without work costs one statement", async () => {
  const t = await following();
  const asked: string[] = [];
  const { database } = t.services;
  const query: typeof database.query = (text, parameters) => {
    asked.push(text);
    return database.query(text, parameters);
  };
  const engine = t.replica({
    database: { ...database, db: database.db, transaction: database.transaction.bind(database), query },
  });
  await engine.renewLeases();
  asked.length = 0;
  await engine.renewLeases();
  expect(asked).toEqual([expect.stringContaining('"channels"')]);
});
