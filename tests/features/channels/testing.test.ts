import { describe, expect, it } from "vitest";
import { EgressError } from "../../../src/core/egress/target.ts";
import type { Egress, EgressRequest } from "../../../src/core/ports.ts";
import { forTest } from "../../adapters/messengers/accounts.ts";
import type { Harness } from "../../harness.ts";
import { slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { twilioAccount, twilioServer } from "../../messengers/twilio-server.ts";
import { type Headers, put, untilStatus, withMessengers } from "./messengers.ts";

const address = "https://agents.example.com";
const bot = { botToken: telegramToken };

interface Tested {
  ok: boolean;
  checks: { name: string; ok: boolean; message: string }[];
  message: string;
}

async function test(h: Harness, headers: Headers, type: string, slug = "one") {
  const answer = await h.request(`/api/instances/${slug}/channels/${type}/test`, { method: "POST", headers });
  return { status: answer.status, body: (await answer.json()) as Tested };
}

/** An egress that leads to the server itself, as its public address does. */
function loop() {
  const asked: EgressRequest[] = [];
  const at: { h?: Harness; answer?: () => Promise<{ status: number; body: string }> } = {};
  const egress: Egress = {
    async request(request) {
      asked.push(request);
      const { method, url } = request;
      const ours = async () => {
        const response = await at.h?.request(new URL(url).pathname, { method });
        return { status: response?.status ?? 0, body: (await response?.text()) ?? "" };
      };
      return { ...(await (at.answer ?? ours)()), headers: {}, url };
    },
  };
  return { asked, at, egress };
}

describe("the test of a channel", () => {
  it("asks Telegram and calls the public address", async () => {
    const telegram = await forTest(telegramServer());
    const way = loop();
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address, egress: way.egress });
    way.at.h = h;
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    const webhook = `${address}/webhooks/telegram/one`;
    expect(await test(h, headers, "telegram")).toEqual({
      status: 200,
      body: {
        ok: true,
        checks: [
          { name: "credentials", ok: true, message: "The bot is @acme_helper_bot" },
          { name: "webhook", ok: true, message: `Telegram calls ${webhook}` },
          { name: "reachable", ok: true, message: `${address} leads to this server. No message waits` },
        ],
      },
    });
    expect(way.asked).toMatchObject([
      { url: webhook, method: "POST", headers: {}, sensitive: true, allowedHosts: ["agents.example.com"] },
    ]);

    telegram.setLastError("Wrong response from the webhook: 502 Bad Gateway");
    telegram.updates.push({});
    const failing = await test(h, headers, "telegram");
    expect(failing.body).toMatchObject({ ok: false, checks: [{ ok: true }, { ok: true }, { ok: false }] });
    expect(failing.body.checks[2]?.message).toContain("502 Bad Gateway");
  });

  it("says so when calls do not arrive here", async () => {
    const telegram = await forTest(telegramServer());
    const way = loop();
    const { h, headers } = await withMessengers({ bases: { telegram: telegram.base }, address, egress: way.egress });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    await untilStatus(h, headers, "telegram", "running");
    const reachable = async () => (await test(h, headers, "telegram")).body.checks.find((c) => c.name === "reachable");
    for (const [status, body] of [
      [200, "<html>Sign in</html>"],
      [302, ""],
      [404, '{"error":"no such app"}'],
      [401, '"secret"'],
      [502, '{"statusCode":502}'],
    ] as const) {
      way.at.answer = async () => ({ status, body });
      expect(await reachable()).toMatchObject({
        ok: false,
        message: expect.stringContaining(`/webhooks/telegram/one answers ${status}, and not as this server does`),
      });
    }
    way.at.answer = () => Promise.reject(new EgressError("It did not answer within 10 s"));
    expect((await reachable())?.message).toContain(`${address} could not be reached from here: It did not answer`);
  });

  it("names the refusal of wrong credentials, and tests those of a channel that is off alone", async () => {
    const [telegram, slack] = [await forTest(telegramServer()), await forTest(slackServer())];
    const way = loop();
    const bases = { telegram: telegram.base, slack: slack.base };
    const { h, headers } = await withMessengers({ bases, address, egress: way.egress });
    const wrong = "987654321:AAExampleToken-of_another_bot0123456";
    await put(h, headers, "telegram", { config: { botToken: wrong } });
    const refused = await test(h, headers, "telegram");
    expect(refused.body).toEqual({
      ok: false,
      checks: [
        {
          name: "credentials",
          ok: false,
          message: "Telegram does not know the bot token: copy it from @BotFather again",
        },
      ],
    });
    const { appToken, ...webhook } = slackTokens;
    await put(h, headers, "slack", { config: webhook });
    expect((await test(h, headers, "slack")).body).toMatchObject({ ok: true, checks: [{ name: "credentials" }] });
    expect(way.asked).toEqual([]);
    expect([...h.logs, JSON.stringify(refused)].join()).not.toContain(wrong.slice(12));
  });

  it("says what a person has to enter at Slack and Twilio, and sends no secret of a path to itself", async () => {
    const [slack, twilio] = [await forTest(slackServer()), await forTest(twilioServer())];
    const way = loop();
    const bases = { slack: slack.base, whatsapp: twilio.url };
    const { h, headers } = await withMessengers({ bases, address, egress: way.egress });
    way.at.h = h;
    const { appToken, ...webhook } = slackTokens;
    const { authToken, ...byKey } = twilioAccount;
    await put(h, headers, "slack", { enabled: true, config: webhook });
    const saved = await put(h, headers, "whatsapp", { enabled: true, config: byKey });
    const names = ["credentials", "webhook", "reachable"];
    const tested = [await test(h, headers, "slack"), await test(h, headers, "whatsapp")];
    for (const { body } of tested) {
      expect(body.ok).toBe(true);
      expect(body.checks.map(({ name }) => name)).toEqual(names);
    }
    expect(tested[1]?.body.checks[1]?.message).toContain(saved.channel.config.webhookUrl);
    expect(way.asked.map(({ url }) => url)).toEqual([
      `${address}/webhooks/slack/one`,
      `${address}/webhooks/twilio/one/whatsapp`,
    ]);
  });

  it("calls nothing of its own where messages are asked for, or no messenger reaches the server", async () => {
    const [telegram, twilio] = [await forTest(telegramServer()), await forTest(twilioServer())];
    const slack = await forTest(slackServer());
    const way = loop();
    const bases = { telegram: telegram.base, whatsapp: twilio.url, slack: slack.base };
    const { h, headers } = await withMessengers({ bases, egress: way.egress });
    await put(h, headers, "telegram", { enabled: true, config: bot });
    const { apiKeySid, apiKeySecret, ...byToken } = twilioAccount;
    await put(h, headers, "whatsapp", { enabled: true, config: byToken });
    expect((await test(h, headers, "telegram")).body.ok).toBe(true);
    const { appToken, ...webhook } = slackTokens;
    await put(h, headers, "slack", { enabled: true, config: { ...webhook, transport: "webhook" } });
    await put(h, headers, "telegram", { config: { transport: "webhook" } });
    for (const type of ["whatsapp", "slack", "telegram"]) {
      expect((await test(h, headers, type)).body).toMatchObject({
        ok: false,
        checks: [
          { name: "credentials", ok: true },
          {
            name: "webhook",
            ok: false,
            message: "No messenger can call http://localhost:4000, so there is no webhook to set there yet",
          },
          {
            name: "reachable",
            ok: false,
            message:
              "No messenger reaches http://localhost:4000: set the policy publicAddress to an https address of this server",
          },
        ],
      });
    }
    expect(way.asked).toEqual([]);
  });

  it("is for those who may change channels, and for messengers that are set up", async () => {
    const { h, headers } = await withMessengers({ address });
    expect(await test(h, headers, "telegram")).toMatchObject({
      status: 400,
      body: { message: "config.botToken: is needed before telegram can be turned on" },
    });
    for (const type of ["web", "agent"]) expect((await test(h, headers, type)).status).toBe(400);
    for (const type of ["sms", "%00", "..%2fweb", "__proto__"]) {
      expect((await test(h, headers, type)).status).toBe(404);
    }
    for (const slug of ["nobody", "%00", "..%2fone", "a".repeat(5_000)]) {
      expect(await test(h, headers, "telegram", slug)).toMatchObject({ status: 404 });
    }
    expect((await test(h, await h.as("viewer"), "telegram")).status).toBe(403);
    const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
    expect((await test(h, stranger, "telegram")).status).toBe(404);
  });
});
