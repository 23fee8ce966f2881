import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../src/core/errors.ts";
import { payloads } from "../../adapters/messengers/accounts.ts";
import { slackHeaders } from "../../messengers/slack-server.ts";
import { twilioSignature } from "../../messengers/twilio-server.ts";
import { moveTo } from "../channels/messengers.ts";
import {
  messengerHarness,
  privateUpdate,
  saveChannel,
  slackFields,
  telegramFields,
  twilioFields,
} from "./messengers.ts";

type World = Awaited<ReturnType<typeof messengerHarness>>;
type Call = Parameters<World["post"]>[1];

const secret = { "X-Telegram-Bot-Api-Secret-Token": "hook-secret" };
const hello = JSON.stringify(privateUpdate("Hello", 1));
const [slack, whatsapp] = [payloads("slack"), payloads("whatsapp")];
const direct = JSON.stringify(slack.direct);

const everywhere = (more: object = {}) => messengerHarness({ names: ["telegram", "slack", "whatsapp"], ...more });

const slackCall = (body: string, at: number): Call => ({
  body,
  headers: slackHeaders(body, at, slackFields.signingSecret),
});

/** A call of Twilio with a message to the test's number, signed for `url`. */
function twilioCall(url: string, more: Record<string, string> = {}, headers: Record<string, string> = {}): Call {
  const params = {
    ...(whatsapp.text as Record<string, string>),
    To: `whatsapp:${twilioFields.whatsappNumber}`,
    ...more,
  };
  const body = new URLSearchParams(params).toString();
  const type = { "Content-Type": "application/x-www-form-urlencoded" };
  return {
    body,
    headers: { ...type, "X-Twilio-Signature": twilioSignature(twilioFields.authToken, url, params), ...headers },
  };
}

const stored = async (h: World) =>
  (await h.rows()).inbox.map(({ channel, payload }) => [channel, (payload as { text: string }).text]);

/** A call must leave nothing: no row, no conversation, no job, no error in the log. */
async function expectNothing(h: World): Promise<void> {
  const { inbox, conversations, jobs } = await h.rows();
  expect({ inbox, conversations, jobs }).toEqual({ inbox: [], conversations: [], jobs: [] });
  expect(h.logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
}

describe("each messenger's message is stored, in the words that the messenger wants", () => {
  test("Telegram", async () => {
    const h = await everywhere();
    const response = await h.post(`telegram/${h.agent.slug}`, { body: hello, headers: secret });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(await stored(h)).toEqual([["telegram", "Hello"]]);
  });

  test("Slack, and its challenge", async () => {
    const h = await everywhere();
    const challenge = JSON.stringify(slack.challenge);
    const answered = await h.post(`slack/${h.agent.slug}`, slackCall(challenge, h.clock.now()));
    expect([answered.status, await answered.text()]).toEqual([200, slack.challenge?.challenge]);
    await expectNothing(h);
    expect((await h.post(`slack/${h.agent.slug}`, slackCall(direct, h.clock.now()))).status).toBe(200);
    expect(await stored(h)).toEqual([["slack", "Hello hello can you hear me?"]]);
  });

  test("WhatsApp by signature", async () => {
    const h = await everywhere();
    const path = `twilio/${h.agent.slug}/whatsapp`;
    const response = await h.post(path, twilioCall(`http://localhost/webhooks/${path}`));
    expect([response.status, await response.text()]).toEqual([200, "<Response/>"]);
    expect(response.headers.get("Content-Type")).toMatch(/^text\/xml/);
    expect(await stored(h)).toEqual([["whatsapp", "Hello!"]]);
  });

  test("WhatsApp by the secret in its path; the path of the other mode is not there", async () => {
    const h = await everywhere();
    const keys = { mode: "api_key", apiKeySid: `SK${"2".repeat(32)}`, apiKeySecret: "k".repeat(32) };
    const { accountSid, whatsappNumber } = twilioFields;
    const fields = { ...keys, accountSid, whatsappNumber, webhookSecret: "path-secret" };
    const path = `twilio/${h.agent.slug}/whatsapp`;
    const call = twilioCall(`http://localhost/webhooks/${path}`);
    expect((await h.post(`${path}/path-secret`, call)).status).toBe(404);
    await saveChannel(h, h.agent.slug, "whatsapp", { fields });
    expect((await h.post(path, call)).status).toBe(404);
    for (const wrong of ["path-secre", "path-secret2", "PATH-SECRET", "%00"]) {
      expect((await h.post(`${path}/${wrong}`, call)).status).toBe(404);
    }
    await expectNothing(h);
    expect((await h.post(`${path}/path-secret`, call)).status).toBe(200);
    expect(await stored(h)).toHaveLength(1);
    // Nor does the log contain it when a person opens the address in a browser.
    for (const under of ["/agents", ""]) {
      expect((await h.request(`${under}/webhooks/${path}/path-secret`)).status).not.toBe(200);
    }
    const lines = h.logs.filter((line) => line.includes("/webhooks/"));
    expect(lines.filter((line) => /path-secret/i.test(line))).toEqual([]);
    expect(lines.at(-1)).toContain(`/webhooks/${path}/…`);
  });
});

describe("the address that Twilio signed", () => {
  const forwarded = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "agents.example" };

  test("is that of the forwarded headers behind a proxy", async () => {
    const h = await everywhere({ trustProxy: 1 });
    const path = `twilio/${h.agent.slug}/whatsapp`;
    const call = twilioCall(`https://agents.example/webhooks/${path}`, {}, forwarded);
    expect((await h.post(path, call)).status).toBe(200);
  });

  test("has the path of the public address, which a proxy takes away", async () => {
    const h = await everywhere({ trustProxy: 1 });
    await moveTo(h, await h.as("owner"), "https://agents.example/engine");
    const path = `twilio/${h.agent.slug}/whatsapp`;
    const signed = twilioCall(`https://agents.example/engine/webhooks/${path}`, {}, forwarded);
    expect((await h.post(path, signed)).status).toBe(200);
    const elsewhere = { ...forwarded, "X-Forwarded-Host": "other.example" };
    const call = twilioCall(`https://other.example/webhooks/${path}`, { MessageSid: `SM${"9".repeat(32)}` }, elsewhere);
    expect((await h.post(path, call)).status).toBe(200);
    expect(await stored(h)).toHaveLength(2);
  });

  test("is the request's own without one, whatever the headers say", async () => {
    const h = await everywhere();
    const path = `twilio/${h.agent.slug}/whatsapp`;
    expect((await h.post(path, twilioCall(`https://agents.example/webhooks/${path}`, {}, forwarded))).status).toBe(403);
    await expectNothing(h);
    expect((await h.post(path, twilioCall(`http://localhost/webhooks/${path}`, {}, forwarded))).status).toBe(200);
  });
});

test("unproven calls get the decided status and change nothing", async () => {
  const h = await everywhere();
  const { slug } = h.agent;
  const now = h.clock.now();
  const twilio = `twilio/${slug}/whatsapp`;
  const calls: [string, string, Call, number][] = [
    ["no secret", `telegram/${slug}`, { body: hello }, 401],
    [
      "a wrong secret",
      `telegram/${slug}`,
      { body: hello, headers: { ...secret, "X-Telegram-Bot-Api-Secret-Token": "x" } },
      401,
    ],
    ["no signature", `slack/${slug}`, { body: direct }, 401],
    ["a stale signature", `slack/${slug}`, slackCall(direct, now - 301_000), 401],
    ["another body", `slack/${slug}`, { ...slackCall(direct, now), body: `${direct} ` }, 401],
    ["a truncated body", `slack/${slug}`, { ...slackCall(direct, now), body: direct.slice(0, -1) }, 401],
    ["an unsigned challenge", `slack/${slug}`, { body: JSON.stringify(slack.challenge) }, 401],
    ["no signature", twilio, { body: "From=x" }, 403],
    ["another address", twilio, twilioCall("http://localhost/webhooks/twilio/other/whatsapp"), 403],
  ];
  for (const [label, path, call, status] of calls) {
    const response = await h.post(path, call);
    expect([label, response.status]).toEqual([label, status]);
    expect(await response.json()).toMatchObject({ statusCode: status });
  }
  await expectNothing(h);
});

test("an agent that is not there, a channel that is off, foreign, incomplete or followed is a 404 that tells nothing", async () => {
  const h = await messengerHarness();
  const other = await h.another();
  const bodies = new Set<string>();
  const post = async (path: string) => {
    const response = await h.post(path, { body: hello, headers: secret });
    expect([path, response.status]).toEqual([path, 404]);
    bodies.add(await response.text());
  };
  await post("telegram/nobody");
  await post("telegram/No%20slug%00");
  await post(`telegram/${"x".repeat(5_000)}`);
  await post(`telegram/${other.slug}`);
  await post(`slack/${h.agent.slug}`);
  await saveChannel(h, other.slug, "telegram", { enabled: false });
  await post(`telegram/${other.slug}`);
  await saveChannel(h, other.slug, "telegram", { fields: { ...telegramFields, transport: "polling" } });
  await post(`telegram/${other.slug}`);
  await saveChannel(h, other.slug, "telegram", { fields: { webhookSecret: "hook-secret", transport: "webhook" } });
  await post(`telegram/${other.slug}`);
  expect(bodies.size).toBe(1);
  await expectNothing(h);
});

test("a message for an inactive agent is acknowledged and dropped", async () => {
  const h = await messengerHarness();
  await h.request(`/api/instances/${h.agent.slug}`, {
    method: "PATCH",
    headers: h.agent.headers,
    json: { active: false },
  });
  expect((await h.say("Hello")).status).toBe(200);
  expect((await h.say("Are you there?")).status).toBe(200);
  await expectNothing(h);
  // Without it no operator could tell why nothing is stored.
  const told = () => h.logs.filter((line) => line.includes("Messages were dropped: the agent is inactive"));
  expect(told().map((line) => JSON.parse(line))).toMatchObject([{ agent: h.agent.slug, channel: "telegram" }]);
  await h.clock.advance(60_000);
  await h.say("Hello?", 77, 4_242);
  expect(told()).toHaveLength(2);
  expect(told().join()).not.toMatch(/Hello|4242|Ada/);
  await h.request(`/api/instances/${h.agent.slug}`, {
    method: "PATCH",
    headers: h.agent.headers,
    json: { active: true },
  });
  await h.say("Hello again");
  expect(await stored(h)).toEqual([["telegram", "Hello again"]]);
});

const chunked = (bytes: number) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let sent = 0; sent < bytes; sent += 65_536) controller.enqueue(new Uint8Array(65_536).fill(91));
      controller.close();
    },
  });

test("a body of more than 1 MiB is a 413, told or found", async () => {
  const h = await everywhere();
  const long = new Uint8Array(1024 * 1024 + 1).fill(91);
  const heads: [string, Record<string, string>][] = [
    [`telegram/${h.agent.slug}`, secret],
    [`slack/${h.agent.slug}`, slackHeaders("another body", h.clock.now())],
    [`twilio/${h.agent.slug}/whatsapp`, { "X-Twilio-Signature": twilioSignature("another token", "", {}) }],
  ];
  for (const [path, headers] of heads) {
    const told = await h.post(path, { body: long, headers: { ...headers, "Content-Length": String(long.length) } });
    const found = await h.request(`/webhooks/${path}`, {
      method: "POST",
      headers,
      body: chunked(2 * 1024 * 1024),
      duplex: "half",
    } as RequestInit);
    expect([path, told.status, found.status]).toEqual([path, 413, 413]);
    const zipped = await h.post(path, { body: gzipSync(long), headers: { ...headers, "Content-Encoding": "gzip" } });
    expect([path, zipped.status]).toEqual([path, 413]);
  }
  await expectNothing(h);
});

test("a call whose head shows that it is unproven is refused before its body comes", async () => {
  const h = await everywhere();
  const { slug } = h.agent;
  const twilio = `twilio/${slug}/whatsapp`;
  const [now, signature] = [h.clock.now(), twilioSignature("another token", "", {})];
  const calls: [string, Record<string, string>, number][] = [
    ["telegram/nobody", secret, 404],
    [`telegram/${slug}`, {}, 401],
    [`telegram/${slug}`, { "X-Telegram-Bot-Api-Secret-Token": "hook-secre" }, 401],
    [`slack/${slug}`, {}, 401],
    [`slack/${slug}`, slackHeaders("", now - 301_000, slackFields.signingSecret), 401],
    [`slack/${slug}`, { ...slackHeaders("", now), "X-Slack-Signature": "v0=1" }, 401],
    [twilio, {}, 403],
    [twilio, { "X-Twilio-Signature": `${signature}=` }, 403],
    [`${twilio}/path-secret`, { "X-Twilio-Signature": signature }, 404],
  ];
  for (const [path, headers, status] of calls) {
    // This body never arrives: only the time limit for reading on ends the wait for it.
    const body = new ReadableStream<Uint8Array>({}, { highWaterMark: 0 });
    const answer = h.request(`/webhooks/${path}`, { method: "POST", headers, body, duplex: "half" } as RequestInit);
    await expect.poll(() => h.clock.waiting(2_000)).toBe(true);
    await h.clock.advance(2_000);
    const response = await answer;
    expect([path, response.status, response.headers.get("Connection")]).toEqual([path, status, "close"]);
  }
  await expectNothing(h);
});

test("a change of the channel while a body is on its way counts", async () => {
  const h = await everywhere();
  const letIn = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        letIn.resolve();
        await held.promise;
        controller.enqueue(new TextEncoder().encode(hello));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const init = { method: "POST", headers: secret, body, duplex: "half" };
  const answer = h.request(`/webhooks/telegram/${h.agent.slug}`, init as RequestInit);
  await letIn.promise;
  await saveChannel(h, h.agent.slug, "telegram", { fields: { ...telegramFields, webhookSecret: "new-secret" } });
  held.resolve();
  expect((await answer).status).toBe(401);
  await expectNothing(h);
});

test("a message with Content-Encoding: gzip is stored; another encoding, or a broken one, is reported", async () => {
  const h = await everywhere();
  const path = `telegram/${h.agent.slug}`;
  const call = (body: Uint8Array<ArrayBuffer>, coding: string) =>
    h.post(path, { body, headers: { ...secret, "Content-Encoding": coding } });
  const zipped = gzipSync(hello);
  expect((await call(zipped.subarray(0, -9), "gzip")).status).toBe(400);
  expect((await call(zipped, "br")).status).toBe(415);
  await expectNothing(h);
  expect((await call(zipped, "gzip")).status).toBe(200);
  expect(await stored(h)).toEqual([["telegram", "Hello"]]);
});

test("a proven body that is no message of anybody's is acknowledged and stores nothing", async () => {
  const h = await everywhere();
  const bodies: (string | Uint8Array<ArrayBuffer>)[] = [
    ...["", "null", "[]", "{}", "no JSON", '{"message":{}}', "[".repeat(1_000_000), '{"a":'.repeat(100_000), "\u0000"],
    new Uint8Array([0xff, 0xfe, 0xc3, 0x28]),
    '{"message":{"message_id":1,"from":{"id":1e400},"chat":{"id":1,"type":"private"},"text":"x"}}',
    '{"message":{"message_id":1,"from":{"id":1},"chat":{"id":1,"type":"private"},"text":"\\u0000\\u0000"}}',
  ];
  for (const body of bodies) {
    const telegram = await h.post(`telegram/${h.agent.slug}`, { body, headers: secret });
    const text = typeof body === "string" ? body : new TextDecoder("latin1").decode(body);
    const bySlack = await h.post(`slack/${h.agent.slug}`, slackCall(text, h.clock.now()));
    expect([text.slice(0, 20), telegram.status, bySlack.status]).toEqual([text.slice(0, 20), 200, 200]);
  }
  await expectNothing(h);
});

test("NUL and half characters in a message become storable", async () => {
  const h = await messengerHarness();
  const update = privateUpdate("x", 1);
  const odd = JSON.stringify({ ...update, message: { ...update.message, text: "a\u0000b\ud800" } });
  expect((await h.post(`telegram/${h.agent.slug}`, { body: odd, headers: secret })).status).toBe(200);
  expect(await stored(h)).toEqual([["telegram", "ab\ufffd"]]);
});

test("while the database is away the messenger is to bring it again", async () => {
  const h = await messengerHarness();
  const { database } = h.services;
  const { transaction } = database;
  database.transaction = async () => {
    throw new EngineError("unavailable", "The database is unavailable");
  };
  expect((await h.say("Hello", 1)).status).toBe(503);
  database.transaction = transaction;
  expect((await h.say("Hello", 1)).status).toBe(200);
  expect(await stored(h)).toEqual([["telegram", "Hello"]]);
});

test("no limit of calls holds a messenger up", async () => {
  const h = await messengerHarness();
  h.services.policies.set({ ...h.services.policies.values, rateLimit: { limit: 10, windowSeconds: 60 } });
  for (let index = 0; index < 30; index += 1) expect((await h.say("Hello")).status).toBe(200);
  expect(await stored(h)).toHaveLength(30);
});

test("the channel shows when it last received something", async () => {
  const h = await messengerHarness();
  await h.say("Hello");
  expect((await h.rows()).channel?.lastReceivedAt).toBeNull();
  await h.engine.closeRevoked();
  expect((await h.rows()).channel?.lastReceivedAt).toEqual(new Date(h.clock.now()));
});
