import { expect, test } from "vitest";
import { createMessengers } from "../../../src/adapters/messengers/index.ts";
import type { MessengerConfig, WebhookCall, WebhookContent } from "../../../src/core/channels/messengers.ts";
import { scrubber } from "../../../src/core/scrub/scrub.ts";
import { apiServer } from "../../messengers/api-server.ts";
import { slackHeaders, slackServer, slackTokens } from "../../messengers/slack-server.ts";
import { telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { twilioAccount, twilioSignature } from "../../messengers/twilio-server.ts";
import { accountAt, forTest, payloads, webhookCall } from "./accounts.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Calls that are proven to come from the messenger, whatever their content. */
async function doors(): Promise<
  Record<string, { config: MessengerConfig; base: string; prove(body: Bytes): WebhookCall }>
> {
  const [telegram, slack] = [await forTest(telegramServer()), await forTest(slackServer())];
  const secret = "registered";
  const { accountSid, authToken, whatsappNumber } = twilioAccount;
  return {
    telegram: {
      config: { name: "telegram", config: { botToken: telegramToken, allowedUserIds: [] } },
      base: telegram.base,
      prove: (body) =>
        webhookCall(body, { secret, headers: new Headers({ "X-Telegram-Bot-Api-Secret-Token": secret }) }),
    },
    slack: {
      config: { name: "slack", config: { ...slackTokens, appToken: null } },
      base: slack.base,
      prove: (body) =>
        webhookCall(body, { headers: new Headers(slackHeaders(Buffer.from(body).toString("latin1"), 0)) }),
    },
    whatsapp: {
      config: {
        name: "whatsapp",
        config: { accountSid, credentials: { mode: "auth_token", authToken }, whatsappNumber },
      },
      base: "http://127.0.0.1:2",
      prove(body) {
        const params = Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));
        const url = "https://agents.example/webhooks/twilio/acme/whatsapp";
        const headers = new Headers({ "X-Twilio-Signature": twilioSignature(authToken, url, params) });
        return webhookCall(body, { url, headers });
      },
    },
  };
}

const names = ["telegram", "slack", "whatsapp"] as const;

/** The values that replace each member in turn. */
const odd: unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "\u0000\ud800",
  "x".repeat(5_000),
  [],
  [null],
  {},
  [[{}]],
  { id: {} },
];

/** A copy of a value for each member in it and each odd value. */
function* spoilt(value: unknown): Generator<unknown> {
  if (value === null || typeof value !== "object") return;
  for (const [key, member] of Object.entries(value)) {
    const put = (inner: unknown) =>
      Array.isArray(value) ? value.with(Number(key), inner) : { ...value, [key]: inner };
    for (const inner of odd) yield put(inner);
    for (const inner of spoilt(member)) yield put(inner);
  }
}

/** Whether the store can hold the received content. */
function isSound(received: WebhookContent): boolean {
  if (received.kind !== "arrivals") return received.kind === "later" || received.kind === "answer";
  return received.arrivals.every((arrival) => {
    if ("deletes" in arrival) return [arrival.deletes, arrival.channelId].every(isId);
    if ("movedTo" in arrival) return [arrival.movedFrom, arrival.movedTo].every(isId);
    const { text, senderName, files, quotes, album, providerId, channelId, sender, edits } = arrival;
    const quoted = quotes.flatMap(({ text, passage, author }) => {
      const { id, name } = author !== null && typeof author === "object" ? author : { id: null, name: null };
      return [text, passage ?? "", id ?? "", name ?? ""];
    });
    const texts = [
      text,
      senderName ?? "",
      album?.id ?? "",
      ...files.flatMap(({ ref, name, mime }) => [ref, name, mime]),
    ];
    return (
      [...texts, ...quoted].every(
        (text) => typeof text === "string" && text.isWellFormed() && !text.includes("\u0000"),
      ) &&
      [providerId, channelId, sender, edits ?? "x"].every(isId) &&
      files.every(({ size }) => size === null || Number.isSafeInteger(size))
    );
  });
}

const isId = (id: string) => /^[\w:.+-]{1,200}$/.test(id);

const latin1 = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));
const utf8 = (text: string) => Uint8Array.from(Buffer.from(text));

test.each(names)("%s: ignores members of wrong types", async (name) => {
  const { [name]: door } = await doors();
  if (!door) throw new Error("There is no such door");
  const { account } = accountAt(door.config, door.base);
  const encode = (value: unknown) =>
    name === "whatsapp"
      ? utf8(new URLSearchParams(value as Record<string, string>).toString())
      : // Only ASCII, so that a test's signature needs no bytes.
        latin1(
          JSON.stringify(value).replaceAll(
            /[\u0080-\uffff]/g,
            (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
          ),
        );
  let count = 0;
  for (const payload of Object.values(payloads(name))) {
    for (const wrong of spoilt(payload)) {
      const received = await account.receive(door.prove(encode(wrong)), 0);
      if (!isSound(received)) throw new Error(`${JSON.stringify(wrong)} was read as ${JSON.stringify(received)}`);
      count += 1;
    }
  }
  expect(count).toBeGreaterThan(500);
});

test.each(names)("%s: an invalid body is no message", async (name) => {
  const { [name]: door } = await doors();
  if (!door) throw new Error("There is no such door");
  const { account } = accountAt(door.config, door.base);
  const whole = JSON.stringify(Object.values(payloads(name))[1]);
  const none = { kind: "arrivals", arrivals: [] };
  const bodies = [
    "",
    "null",
    "7",
    '"x"',
    "[]",
    "{}",
    whole.slice(0, -1),
    "[".repeat(1_000_000),
    '{"a":'.repeat(200_000),
  ];
  for (const body of [...bodies.map(latin1), new Uint8Array([0xff, 0xfe, 0x00, 0x80])]) {
    expect(await account.receive(door.prove(body), 0)).toEqual(
      name === "slack" && body.at(0) === 0xff ? expect.anything() : none,
    );
  }
});

test.each(names)("%s: reads nothing of a call that is not proven", async (name) => {
  const { [name]: door } = await doors();
  if (!door) throw new Error("There is no such door");
  const { account } = accountAt(door.config, door.base);
  for (const payload of Object.values(payloads(name))) {
    const body =
      name === "whatsapp" ? new URLSearchParams(payload as Record<string, string>).toString() : JSON.stringify(payload);
    expect(await account.receive(webhookCall(body, { secret: "registered" }), 0)).toMatchObject({ kind: "refused" });
  }
});

test.each(names)("%s: a response that repeats the request reveals no credentials", async (name) => {
  const { [name]: door } = await doors();
  if (!door) throw new Error("There is no such door");
  const { url } = await forTest(
    apiServer(async ({ path, headers }) => {
      const words = `refused ${path} ${headers.authorization}`;
      return { status: 400, json: { ok: false, error: words, description: words, code: 1, message: words } };
    }),
  );
  const { account, signal } = accountAt(door.config, url);
  const refusal = await account.send("4711", "Hello", signal).catch((error: unknown) => error);
  const told = [String(refusal), ...(await account.check(null, signal)).map(({ message }) => message)].join();
  expect(told).toContain("[secret]");
  const { botToken } = slackTokens;
  const { accountSid, authToken } = twilioAccount;
  const basic = Buffer.from(`${accountSid}:${authToken}`).toString("base64").slice(-20, -4);
  for (const secret of [telegramToken, botToken, authToken, basic]) expect(told).not.toContain(secret);
});

test.each(names)("%s: its texts don't reveal the agent's secrets", async (name) => {
  const { [name]: door } = await doors();
  if (!door) throw new Error("There is no such door");
  const canary = "canary-4711-geheim";
  const words = `refused\n${canary}`;
  const json = { ok: false, error: words, description: words, code: 1, message: words };
  const { url } = await forTest(apiServer(async () => ({ status: 400, json })));
  const { clock, signal } = accountAt(door.config);
  const account = createMessengers({ clock, bases: { [name]: url } }).account(door.config, async () =>
    scrubber([canary]),
  );
  const refusal = await account.send("4711", "Hello", signal).catch((error: unknown) => error);
  expect(String(refusal)).toContain(": refused [secret]");
});

test("refuses a form with any number of names in linear time", async () => {
  const { config, base } = (await doors()).whatsapp ?? {};
  if (!config) throw new Error("There is no such door");
  const form = Array.from({ length: 150_000 }, (_, index) => `${index.toString(36)}=`).join("&");
  const headers = new Headers({ "X-Twilio-Signature": "x" });
  const started = performance.now();
  const received = await accountAt(config, base).account.receive(webhookCall(form, { headers }), 0);
  expect(received).toEqual({ kind: "refused", status: 403 });
  expect(performance.now() - started).toBeLessThan(10_000);
});
