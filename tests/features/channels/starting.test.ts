import { describe, expect, it, onTestFinished } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import type { Messengers } from "../../../src/core/channels/messengers.ts";
import { newId } from "../../../src/core/ids.ts";
import { localNotify } from "../../../src/core/notify.ts";
import { CurrentPolicies } from "../../../src/core/policies.ts";
import { agents, channels } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { startJobs } from "../../../src/features/channels/messengers/start.ts";
import { forTest } from "../../adapters/messengers/accounts.ts";
import { TestClock } from "../../clock.ts";
import { handlerOf } from "../../jobs/jobs.ts";
import { slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { twilioAccount, twilioServer } from "../../messengers/twilio-server.ts";
import { moveTo, put, shown, untilNoneRuns, untilStatus, withMessengers } from "./messengers.ts";

const address = "https://agents.example.com";
const bot = { botToken: telegramToken };
const otherToken = "987654321:AAExampleToken-of_another_bot0123456";

describe("the start of a channel", () => {
  it("has Telegram call the webhook with a secret of its own, at once after the save", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    const saved = await put(h, headers, "telegram", { enabled: true, config: bot });
    expect(saved).toMatchObject({ status: 200, channel: { enabled: true, status: "starting", lastError: null } });
    const webhookUrl = `${address}/webhooks/telegram/one`;
    expect(saved.channel.config).toEqual({ botToken: "••••9abc", transport: "webhook", webhookUrl });
    await untilStatus(h, headers, "telegram", "running");
    expect(telegram.webhook()).toEqual({ url: webhookUrl, secret: expect.stringMatching(/^[\w-]{32}$/) });
  });

  it("has Telegram call nothing where no messenger reaches the server: messages are polled", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base } });
    const saved = await put(h, headers, "telegram", { enabled: true, config: bot });
    expect(saved.channel.config).toEqual({ botToken: "••••9abc", transport: "polling" });
    const rows = () => h.services.database.db.select().from(channels);
    // It runs once a process polls.
    await expect.poll(rows).toMatchObject([{ transport: "polling", status: "starting" }]);
    expect(telegram.requests.map(({ path }) => path.split("/").at(-1))).toEqual(["getMe", "deleteWebhook"]);
  });

  it("proves the credentials of Slack and WhatsApp", async () => {
    const [slack, twilio] = [await forTest(slackServer()), await forTest(twilioServer())];
    const { h, headers } = await withMessengers({ bases: { slack: slack.base, whatsapp: twilio.url }, address });
    const { appToken, ...webhook } = slackTokens;
    const { apiKeySid, apiKeySecret, ...byToken } = twilioAccount;
    expect((await put(h, headers, "slack", { enabled: true, config: webhook })).status).toBe(200);
    expect((await put(h, headers, "whatsapp", { enabled: true, config: byToken })).status).toBe(200);
    await untilStatus(h, headers, "slack", "running");
    await untilStatus(h, headers, "whatsapp", "running");
    const wrong = { authToken: "f".repeat(32) };
    await put(h, headers, "whatsapp", { config: wrong });
    const failing = await untilStatus(h, headers, "whatsapp", "failing");
    expect(failing.lastError).toContain("Twilio does not take the credentials");
    await put(h, headers, "slack", { config: { botToken: "xoxb-9999-8888-wrong-token" } });
    expect((await untilStatus(h, headers, "slack", "failing")).lastError).toContain("invalid_auth");
  });

  it("says in words what the messenger refused, without the token, and tries that no more", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    await h.engine.tick();
    await put(h, headers, "telegram", { enabled: true, config: { botToken: otherToken } });
    const failing = await untilStatus(h, headers, "telegram", "failing");
    expect(failing.lastError).toBe("Telegram does not know the bot token: copy it from @BotFather again");
    const asked = telegram.requests.length;
    await h.clock.advance(60_000);
    await h.engine.tick();
    expect(telegram.requests).toHaveLength(asked);
    expect([...h.logs, JSON.stringify(failing)].join()).not.toContain(otherToken.slice(12));
  });

  it("is tried again when the messenger is away for a while, and by each save", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    telegram.fail("getMe", { status: 502, json: { ok: false } });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "failing");
    await untilNoneRuns(h);
    await h.clock.jump(10_000);
    await h.engine.tick();
    expect(await untilStatus(h, headers, "telegram", "running")).toMatchObject({ lastError: null });
    const asked = telegram.requests.length;
    await put(h, headers, "telegram", {});
    await expect.poll(() => telegram.requests.length).toBe(asked + 2);
  });

  it("waits as long as the messenger asks", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    const slower = { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 100 } };
    telegram.fail("setWebhook", { status: 429, json: slower });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "failing");
    await untilNoneRuns(h);
    const asked = telegram.requests.length;
    await h.clock.jump(90_000);
    await h.engine.tick();
    expect(telegram.requests).toHaveLength(asked);
    await h.clock.jump(11_000);
    await h.engine.tick();
    await untilStatus(h, headers, "telegram", "running");
  });

  it("is made anew when the public address changes", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    const secret = telegram.webhook()?.secret;
    await h.engine.tick();
    await moveTo(h, headers, "https://new.example.com");
    await h.engine.tick();
    await expect
      .poll(() => telegram.webhook())
      .toEqual({ url: "https://new.example.com/webhooks/telegram/one", secret });
    await untilStatus(h, headers, "telegram", "running");
    await moveTo(h, headers, null);
    await h.engine.tick();
    await expect.poll(() => telegram.webhook()).toBeNull();
    expect((await untilStatus(h, headers, "telegram", "starting")).config).toMatchObject({ transport: "polling" });
    const asked = telegram.requests.length;
    await h.engine.tick();
    expect(telegram.requests).toHaveLength(asked);
  });
});

describe("a webhook that somebody removed at Telegram", () => {
  const withRunning = async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    await h.engine.tick();
    await untilNoneRuns(h);
    const registered = telegram.webhook();
    await fetch(`${telegram.base}/bot${telegramToken}/deleteWebhook`, { method: "POST", body: "{}" });
    expect([registered?.url, telegram.webhook()]).toEqual([`${address}/webhooks/telegram/one`, null]);
    return { telegram, h, headers, registered };
  };

  it("is back after six hours at the latest", async () => {
    const { telegram, h, registered } = await withRunning();
    await h.clock.jump(6 * 60 * 60_000 - 60_000);
    await h.engine.tick();
    await untilNoneRuns(h);
    expect(telegram.webhook()).toBeNull();
    await h.clock.jump(60_000);
    await h.engine.tick();
    await expect.poll(() => telegram.webhook()).toEqual(registered);
  });

  it("is back when a process starts", async () => {
    const { telegram, h, registered } = await withRunning();
    const another = createEngine(h.services);
    onTestFinished(() => another.stop(0));
    await another.tick();
    await expect.poll(() => telegram.webhook()).toEqual(registered);
  });

  it("leaves a channel alone that is polled or off", async () => {
    const { telegram, h, headers } = await withRunning();
    const asked = telegram.requests.length;
    await put(h, headers, "telegram", { enabled: false });
    await untilNoneRuns(h);
    await h.clock.jump(6 * 60 * 60_000);
    await h.engine.tick();
    await untilNoneRuns(h);
    expect(telegram.webhook()).toBeNull();
    await put(h, headers, "telegram", { enabled: true, config: { transport: "polling" } });
    await untilStatus(h, headers, "telegram", "starting");
    await untilNoneRuns(h);
    const now = telegram.requests.length;
    expect(now).toBeGreaterThan(asked);
    await h.clock.jump(6 * 60 * 60_000);
    await h.engine.tick();
    await untilNoneRuns(h);
    expect(telegram.requests.slice(now).filter(({ path }) => !path.endsWith("/getUpdates"))).toEqual([]);
  });
});

describe("a start", () => {
  it("says what the channel lacks once another public address asks for another transport", async () => {
    const slack = await forTest(slackServer());
    const { h, headers } = await withMessengers({ bases: { slack: slack.base } });
    const { signingSecret, ...bySocket } = slackTokens;
    await put(h, headers, "slack", { enabled: true, config: bySocket });
    const rows = () => h.services.database.db.select().from(channels);
    await expect.poll(rows).toMatchObject([{ status: "starting", transport: "socket" }]);
    await moveTo(h, headers, address);
    await h.engine.tick();
    expect(await untilStatus(h, headers, "slack", "failing")).toMatchObject({
      lastError: "The channel lacks signingSecret for the way its messages come now: send it, or name a transport",
    });
    await put(h, headers, "slack", { config: { transport: "socket" } });
    await expect.poll(rows).toMatchObject([{ status: "starting", lastError: null, transport: "socket" }]);
  });

  it("of one bot is given to one of two agents at the same time", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    const slugs = ["one", "two", "three"];
    for (const slug of slugs.slice(1)) {
      await h.request("/api/instances", { method: "POST", headers, json: { slug } });
    }
    const answers = await Promise.all(
      slugs.map((slug) => put(h, headers, "telegram", { enabled: true, config: bot }, slug)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const given = slugs[answers.findIndex(({ status }) => status === 200)];
    await untilStatus(h, headers, "telegram", "running", given);
    expect(telegram.webhook()?.url).toBe(`${address}/webhooks/telegram/${given}`);
    expect(await h.services.database.db.select().from(channels)).toHaveLength(1);
  });

  it("is made by no replica that does not know the new address yet", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    const policies = new CurrentPolicies();
    const other = createEngine({ ...h.services, policies, notify: localNotify(h.services.log) });
    onTestFinished(() => other.stop(0));
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    const registered = telegram.webhook();
    // It also begins due jobs, once it has looked for moved channels.
    await other.tick();
    await untilNoneRuns(h);
    expect(policies.values.publicAddress).toBe(address);
    expect(telegram.webhook()).toEqual(registered);
    const asked = telegram.requests.length;

    const [agent] = await h.services.database.db.select().from(agents);
    const late = new CurrentPolicies();
    const start = handlerOf(startJobs({ ...h.services, policies: late }));
    const job = { id: newId(), payload: { agentId: agent?.id, name: "telegram" }, attempt: 1 };
    const begin = () => start(job, new AbortController().signal);
    await expect(begin()).rejects.toThrow("The public address is changing");
    expect(telegram.requests).toHaveLength(asked);
    expect(late.values.publicAddress).toBe(address);
    await begin();
    expect(telegram.requests).toHaveLength(asked + 2);
  });

  it("that a save overtook notes nothing of the settings that were", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers, hold } = await withHeld(telegram.base, "prove");
    await put(h, headers, "telegram", { enabled: true, config: { botToken: otherToken } });
    await hold.reached;
    await put(h, headers, "telegram", { config: bot });
    hold.open();
    await h.engine.tick();
    expect(await untilStatus(h, headers, "telegram", "running")).toMatchObject({ lastError: null });
    await h.engine.tick();
    expect(await shown(h, headers, "telegram")).toMatchObject({ status: "running", lastError: null });
    expect(telegram.webhook()?.url).toBe(`${address}/webhooks/telegram/one`);
  });
});

/** Messengers whose first call of this kind waits until the test releases it. */
async function withHeld(base: string, held: "prove" | "leave") {
  const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let waits = true;
  const wait = async () => {
    if (!waits) return;
    waits = false;
    reached.resolve();
    await opened.promise;
  };
  const real = createMessengers({ clock: new TestClock(), bases: { telegram: base } });
  const messengers: Messengers = {
    account(...of) {
      const account = real.account(...of);
      return {
        ...account,
        async prove(signal) {
          if (held === "prove") await wait();
          return account.prove(signal);
        },
        async register(wanted, signal) {
          if (held === "leave" && wanted === null) await wait();
          return account.register(wanted, signal);
        },
      };
    },
  };
  const world = await withMessengers({ address, more: { messengers } });
  return { ...world, hold: { reached: reached.promise, open: opened.resolve } };
}

describe("leaving an account", () => {
  it("has it called again when it was turned on while it was being left", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers, hold } = await withHeld(telegram.base, "leave");
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    await put(h, headers, "telegram", { enabled: false });
    await hold.reached;
    await put(h, headers, "telegram", { enabled: true });
    await untilStatus(h, headers, "telegram", "running");
    const asked = telegram.requests.length;
    hold.open();
    await expect
      .poll(() => telegram.requests.slice(asked).map(({ path }) => path.split("/").at(-1)))
      .toEqual(["deleteWebhook", "getMe", "setWebhook"]);
    expect(telegram.webhook()?.url).toBe(`${address}/webhooks/telegram/one`);
  });

  it("has Telegram call no more when the channel is turned off, or deleted with its agent", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    const on = async () => {
      await put(h, headers, "telegram", { enabled: true, config: bot });
      await untilStatus(h, headers, "telegram", "running");
      expect(telegram.webhook()).not.toBeNull();
    };
    await on();
    const off = await put(h, headers, "telegram", { enabled: false });
    expect(off.channel).toMatchObject({ enabled: false, status: "off", config: { botToken: "••••9abc" } });
    await expect.poll(() => telegram.webhook()).toBeNull();
    await on();
    const channel = "/api/instances/one/channels/telegram";
    expect((await h.request(channel, { method: "DELETE", headers })).status).toBe(200);
    expect(await shown(h, headers, "telegram")).toMatchObject({ status: "off", config: { transport: "webhook" } });
    expect((await shown(h, headers, "telegram")).config.botToken).toBeUndefined();
    await expect.poll(() => telegram.webhook()).toBeNull();
    await on();
    expect((await h.request("/api/instances/one", { method: "DELETE", headers })).status).toBe(200);
    await h.engine.tick();
    await expect.poll(() => telegram.webhook()).toBeNull();
  });

  it("leaves a bot that another one replaced, with a fresh secret for the new one", async () => {
    const [first, second] = [await forTest(telegramServer()), await forTest(telegramServer({ token: otherToken }))];
    const { h, headers } = await withMessengers({ bases: { telegram: first.base }, address });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    const [before] = await h.services.database.db.select().from(channels);
    expect(second.webhook()).toBeNull();
    await put(h, headers, "telegram", { config: { botToken: otherToken } });
    await expect.poll(() => first.webhook()).toBeNull();
    const [after] = await h.services.database.db.select().from(channels);
    expect(after?.accountHmac).not.toEqual(before?.accountHmac);
  });

  it("leaves no bot that was turned on again, or that another agent has now", async () => {
    const telegram = await forTest(telegramServer());
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address });
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "two" } });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    expect(await put(h, headers, "telegram", { enabled: true, config: bot }, "two")).toMatchObject({
      status: 409,
      message: "Another agent uses this bot: turn its channel off, or make another one for this agent",
    });
    expect(await shown(h, headers, "telegram", "two")).toMatchObject({ enabled: false, status: "off" });
    expect(await put(h, headers, "telegram", { config: bot }, "two")).toMatchObject({ status: 200 });
    await put(h, headers, "telegram", { enabled: false });
    expect((await put(h, headers, "telegram", { enabled: true }, "two")).status).toBe(200);
    await untilStatus(h, headers, "telegram", "running", "two");
    await h.clock.advance(10_000);
    await h.engine.tick();
    await expect.poll(() => telegram.webhook()?.url).toBe(`${address}/webhooks/telegram/two`);
  });
});
