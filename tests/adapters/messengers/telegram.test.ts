import { describe, expect, test, vi } from "vitest";
import { TestClock } from "../../clock.ts";
import { apiServer } from "../../messengers/api-server.ts";
import { ada, adaChat, telegramServer, telegramToken } from "../../messengers/telegram-server.ts";
import { accountAt, following, forTest, messageIn, nowhere, payloads, webhookCall } from "./accounts.ts";

const updates = payloads("telegram");
const secret = "registered-secret_1";
const presenting = (value: string) => ({ secret, headers: new Headers({ "X-Telegram-Bot-Api-Secret-Token": value }) });

function config(allowedUserIds: string[] = []) {
  return { name: "telegram", config: { botToken: telegramToken, allowedUserIds } } as const;
}

async function connected(allowedUserIds: string[] = []) {
  const telegram = await forTest(telegramServer());
  return { telegram, ...accountAt(config(allowedUserIds), telegram.base) };
}

async function read(name: string, allowedUserIds: string[] = []) {
  const { account, telegram } = await connected(allowedUserIds);
  const call = webhookCall(JSON.stringify(updates[name]), presenting(secret));
  return { message: messageIn(await account.receive(call, 0)), telegram };
}

const person = {
  sender: "1111111",
  senderName: "Test Lastname",
  isPrivate: true,
  edits: null,
  quotes: [],
  album: null,
};
const ofAda = "123456789:1111111:1365";
const direct = { ...person, providerId: ofAda, channelId: "1111111", text: "", files: [] };
const inGroup = {
  ...person,
  isPrivate: false,
  providerId: "123456789:-1001234567890:1365",
  channelId: "-1001234567890",
  files: [],
};
const group = "-1001234567890";
const quote = { kind: "reply", author: null, text: "", passage: null, messageId: null };

describe("what people send to a Telegram bot", () => {
  test.each([
    ["text", { ...direct, text: "/start" }],
    ["edited", { ...direct, providerId: `${ofAda}:1441645600`, text: "Edited text", edits: ofAda }],
    ["reply", { ...direct, text: "something", quotes: [{ ...quote, author: "sender", text: "/help" }] }],
    [
      "photo",
      {
        ...direct,
        text: "The receipt",
        files: [{ ref: "AgACAgIAAxkBAAIBY2x", lastingId: "AQADx", name: "photo.jpg", mime: "image/jpeg", size: 55267 }],
      },
    ],
    [
      "document",
      {
        ...direct,
        files: [
          { ref: "BQACAgIAAxkBAAIBZA", lastingId: "AgADZA", name: "report.pdf", mime: "application/pdf", size: 92311 },
        ],
      },
    ],
    [
      "voice",
      {
        ...direct,
        files: [
          {
            ref: "AwADBAADbXXXXXXXXXXXGBdhD2l6_XX",
            lastingId: "AgADbX",
            name: "voice.ogg",
            mime: "audio/ogg",
            size: 23000,
          },
        ],
      },
    ],
    [
      "audio",
      {
        ...direct,
        files: [{ ref: "CQADBAADaudio", lastingId: "AgADau", name: "song.mp3", mime: "audio/mpeg", size: 3897500 }],
      },
    ],
    [
      "videoNote",
      {
        ...direct,
        files: [
          { ref: "DQACAgIAAxkBAAIBnote", lastingId: "AgADno", name: "video.mp4", mime: "video/mp4", size: 120000 },
        ],
      },
    ],
    [
      "animation",
      {
        ...direct,
        files: [{ ref: "CgACAgIAAxkBanim", lastingId: "AgADan", name: "cat.mp4", mime: "video/mp4", size: 5000 }],
      },
    ],
    ["sticker", { ...direct, text: "👍" }],
    ["location", { ...direct, text: "Location: 41.890251, 12.492373" }],
    ["venue", { ...direct, text: "Location: Colosseo, Piazza del Colosseo, 41.890251, 12.492373" }],
    ["contact", { ...direct, text: "Contact: Grace Hopper, +393331234567" }],
    ["groupMention", { ...inGroup, text: "Please 🙏 help" }],
    ["groupTextMention", { ...inGroup, text: ", help" }],
    ["groupCommand", { ...inGroup, text: "/sum 1 2" }],
    ["groupReply", { ...inGroup, text: "and then?", quotes: [{ ...quote, author: "agent", text: "First this." }] }],
    ["topic", { ...inGroup, channelId: `${group}:77`, text: "in here" }],
    [
      "threadOfReplies",
      { ...inGroup, text: "and then?", quotes: [{ ...quote, author: "agent", text: "First this." }] },
    ],
    [
      "groupPhoto",
      {
        ...inGroup,
        text: "what is it?",
        files: [{ ref: "AgACgroup", lastingId: "AQADg", name: "photo.jpg", mime: "image/jpeg", size: 1253 }],
      },
    ],
    ["onlyMention", { ...inGroup, text: "@acme_helper_bot" }],
  ])("%s", async (name, expected) => {
    expect((await read(name)).message).toEqual(expected);
  });

  test.each([
    "liveLocation",
    "joined",
    "channelPost",
    "callback",
    "otherBot",
    "groupChatter",
    "groupOtherCommand",
    "topicChatter",
  ])("%s is no message for the agent", async (name) => {
    expect((await read(name)).message).toBeNull();
  });

  test("accepts messages only from people on the list, if there is one", async () => {
    expect((await read("text", ["5", "1111111"])).message).not.toBeNull();
    expect((await read("text", ["5"])).message).toBeNull();
  });

  test("requests the bot's name once, and only for mentions in groups", async () => {
    const { account, telegram } = await connected();
    const send = (name: string) =>
      account.receive(webhookCall(JSON.stringify(updates[name]), presenting(secret)), 0).then(messageIn);
    await Promise.all(["text", "groupReply", "groupTextMention"].map(send));
    expect(telegram.requests).toHaveLength(0);
    await Promise.all(["groupMention", "groupCommand", "topic"].map(send));
    await send("groupChatter");
    expect(telegram.requests.map(({ path }) => path.split("/").at(-1))).toEqual(["getMe"]);
  });

  test("a mention in a group is delivered again while the bot's name is unavailable", async () => {
    const { account, telegram } = await connected();
    telegram.fail("getMe", { status: 502, bytes: "Bad Gateway" });
    const receive = () => account.receive(webhookCall(JSON.stringify(updates.groupMention), presenting(secret)), 0);
    expect(await receive()).toEqual({ kind: "later" });
    expect(messageIn(await receive())).toMatchObject({ text: "Please 🙏 help" });
  });

  test("a missing name delays a webhook by at most 2.5 seconds", async () => {
    const { account, telegram, clock } = await connected();
    telegram.fail("getMe", "hang");
    const received = account.receive(webhookCall(JSON.stringify(updates.groupMention), presenting(secret)), 0);
    await vi.waitFor(() => expect(telegram.requests).toHaveLength(1));
    await clock.advance(2_500);
    expect(await received).toEqual({ kind: "later" });
  });
});

test("a call without the registered secret is refused", async () => {
  const { account } = accountAt(config());
  const body = JSON.stringify(updates.text);
  const refused = { kind: "refused", status: 401 };
  expect(await account.receive(webhookCall(body, { secret }), 0)).toEqual(refused);
  expect(await account.receive(webhookCall(body, presenting("")), 0)).toEqual(refused);
  expect(await account.receive(webhookCall(body, presenting(`${secret}x`)), 0)).toEqual(refused);
  expect(await account.receive(webhookCall(body, { ...presenting(""), secret: "" }), 0)).toEqual(refused);
  expect(await account.receive(webhookCall(body, { ...presenting("null"), secret: null }), 0)).toEqual(refused);
});

describe("sending to Telegram", () => {
  test("a message goes as HTML, to a chat or a topic", async () => {
    const { account, telegram, signal } = await connected();
    expect(await account.send("4711", "**Hi** <you>", signal)).toBe("1");
    await account.send("-100:77", "x", signal);
    expect(telegram.sent).toEqual([
      { messageId: 1, chatId: 4711, topicId: null, text: "<b>Hi</b> &lt;you&gt;", html: true },
      { messageId: 2, chatId: -100, topicId: 77, text: "x", html: true },
    ]);
    expect(JSON.parse(telegram.requests[0]?.body ?? "")).toMatchObject({ link_preview_options: { is_disabled: true } });
  });

  test("a message goes to a channel by its name", async () => {
    const { account, telegram, signal } = await connected();
    await account.send("@my_channel:7", "x", signal);
    expect(JSON.parse(telegram.requests[0]?.body ?? "")).toMatchObject({
      chat_id: "@my_channel",
      message_thread_id: 7,
    });
    expect(account.answers("@my_channel")).toBe(true);
  });

  test("sends the source when Telegram refuses the HTML", async () => {
    const { account, telegram, signal } = await connected();
    telegram.fail("sendMessage", {
      status: 400,
      json: { ok: false, error_code: 400, description: "Bad Request: can't parse entities: Unsupported start tag" },
    });
    await account.send("4711", "**Hi**", signal);
    await account.send("4711", "&nbsp;", signal);
    const rows = Array.from({ length: 37 }, (_, row) => `| ${"x".repeat(row === 0 ? 180 : 90)} | y |`);
    const wide = ["| a | b |", "|---|---|", ...rows].join("\n");
    await account.send("4711", wide, signal);
    expect(telegram.sent.map(({ text, html }) => ({ text, html }))).toEqual([
      { text: "**Hi**", html: false },
      { text: "&nbsp;", html: false },
      { text: wide, html: false },
    ]);
  });

  test("reports the new id of a group that became a supergroup", async () => {
    const { account, telegram, signal } = await connected();
    telegram.fail("sendMessage", {
      status: 400,
      json: {
        ok: false,
        error_code: 400,
        description: "Bad Request: group chat was upgraded to a supergroup chat",
        parameters: { migrate_to_chat_id: -1005 },
      },
    });
    await expect(account.send("-5", "x", signal)).rejects.toMatchObject({ movedTo: "-1005", mayBeDone: false });
  });

  const answer = (status: number, description: string, parameters = {}) => ({
    status,
    json: { ok: false, error_code: status, description, parameters },
  });

  test.each([
    [
      answer(429, "Too Many Requests: retry after 7", { retry_after: 7 }),
      { isPermanent: false, retryAfterMs: 7_000, mayBeDone: false, message: "Telegram asks to send less often" },
    ],
    [
      answer(403, "Forbidden: bot was blocked by the user"),
      { isPermanent: true, message: "Telegram refused sendMessage (403): Forbidden: bot was blocked by the user" },
    ],
    [answer(400, "Bad Request: chat not found"), { isPermanent: true, mayBeDone: false }],
    [answer(401, "Unauthorized"), { isPermanent: true, message: expect.stringContaining("@BotFather") }],
    [
      { status: 502, bytes: "<html>Bad Gateway</html>" },
      { isPermanent: false, mayBeDone: false },
    ],
    [{ status: 200, bytes: "<html>" }, { mayBeDone: true }],
    [
      { status: 200, bytes: new Uint8Array(1_000_001) },
      { isPermanent: true, mayBeDone: true },
    ],
    [{ status: 302, headers: { Location: "http://127.0.0.1:1/" } }, { isPermanent: true }],
    ["reset", { isPermanent: false, mayBeDone: true }],
  ] as const)("a failure is told: %#", async (failure, expected) => {
    const { account, telegram, signal } = await connected();
    telegram.fail("sendMessage", failure);
    await expect(account.send("4711", "x", signal)).rejects.toMatchObject({ name: "MessengerError", ...expected });
    expect(telegram.requests).toHaveLength(1);
  });

  test("a response may take ten seconds; after that the message may have been sent", async () => {
    const { account, telegram, clock, signal } = await connected();
    telegram.fail("sendMessage", "hang");
    const sending = account.send("4711", "x", signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(telegram.requests).toHaveLength(1));
    await clock.advance(10_000);
    expect(await sending).toMatchObject({ mayBeDone: true, message: "Telegram did not answer within 10 seconds" });
  });

  test("a refused connection has sent nothing, and no error contains the token", async () => {
    const { account, signal } = accountAt(config());
    const error = await account.send("4711", "x", signal).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ mayBeDone: false, message: "Telegram cannot be reached (ECONNREFUSED)" });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("AAExample");
  });

  test("a stopped call rejects with the reason", async () => {
    const { account, telegram } = await connected();
    telegram.fail("sendMessage", "hang");
    const controller = new AbortController();
    const sending = account.send("4711", "x", controller.signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(telegram.requests).toHaveLength(1));
    controller.abort(new Error("Shutting down"));
    expect(await sending).toEqual(new Error("Shutting down"));
  });

  test("shows typing in the chat of the message", async () => {
    const { account, telegram, signal } = await connected();
    await account.typing("-100:77", signal);
    expect(telegram.actions).toEqual([{ chatId: -100, topicId: 77, action: "typing" }]);
  });
});

describe("files at Telegram", () => {
  const file = { ref: "F1", name: "a.txt", mime: "text/plain", size: null };

  test("a file is fetched by its id", async () => {
    const { account, telegram, signal } = await connected();
    telegram.files.set("F1", { path: "documents/file 1.txt", bytes: Buffer.from("tea") });
    expect(Buffer.from(await account.download(file, 100, signal)).toString()).toBe("tea");
  });

  test("a file that is too large is not fetched", async () => {
    const { account, telegram, signal } = await connected();
    telegram.files.set("F1", { path: "a", bytes: new Uint8Array(101) });
    const refusal = { isPermanent: true, message: "The file has more than 100 bytes" };
    await expect(account.download({ ...file, size: 101 }, 100, signal)).rejects.toMatchObject(refusal);
    expect(telegram.requests).toHaveLength(0);
    await expect(account.download(file, 100, signal)).rejects.toMatchObject(refusal);
  });

  test("a file may take thirty seconds", async () => {
    const { account, telegram, clock, signal } = await connected();
    telegram.files.set("F1", { path: "a", bytes: new Uint8Array(1) });
    telegram.fail("/file/", "hang");
    const loading = account.download(file, 100, signal).catch((error: unknown) => error);
    await vi.waitFor(() => expect(telegram.requests).toHaveLength(2));
    await clock.advance(29_000);
    await clock.advance(1_000);
    expect(await loading).toMatchObject({ message: "Telegram did not answer within 30 seconds", mayBeDone: false });
  });

  test("reports a deleted file without the token", async () => {
    const { account, telegram, signal } = await connected();
    await expect(account.download(file, 100, signal)).rejects.toMatchObject({ isPermanent: true });
    telegram.files.set("F1", { path: "a", bytes: new Uint8Array(1) });
    telegram.fail("/file/", { status: 404, json: { ok: false } });
    await expect(account.download(file, 100, signal)).rejects.toMatchObject({
      isPermanent: true,
      message: "Telegram did not give the file (404)",
    });
  });

  test("a file can be loaded later when Telegram says that it is busy", async () => {
    const { account, telegram, signal } = await connected();
    telegram.files.set("F1", { path: "a", bytes: new Uint8Array(1) });
    telegram.fail("/file/", { status: 429, headers: { "Retry-After": "7" } });
    await expect(account.download(file, 100, signal)).rejects.toMatchObject({
      isPermanent: false,
      retryAfterMs: 7_000,
    });
  });
});

describe("the webhook of a Telegram bot", () => {
  const wanted = { url: "https://agents.example/webhooks/telegram/acme", secret };

  test("it is registered with its secret, and removed", async () => {
    const { account, telegram, signal } = await connected();
    await account.register(wanted, signal);
    expect(telegram.webhook()).toEqual(wanted);
    expect(JSON.parse(telegram.requests[0]?.body ?? "")).toMatchObject({
      allowed_updates: ["message", "edited_message"],
    });
    await account.register(null, signal);
    expect(telegram.webhook()).toBeNull();
  });

  test("a check returns the bot's name, Telegram's address for it, and whether Telegram reached it", async () => {
    const { account, telegram, signal } = await connected();
    const bot = { name: "credentials", ok: true, message: "The bot is @acme_helper_bot" };
    expect(await account.check(wanted, signal)).toEqual([
      bot,
      { name: "webhook", ok: false, message: expect.stringContaining("calls no webhook instead of https://agents") },
      { name: "reachable", ok: true, message: "No message waits" },
    ]);
    await account.register(wanted, signal);
    telegram.setLastError("Connection timed out");
    telegram.updates.push({ update_id: 1 });
    expect(await account.check(wanted, signal)).toEqual([
      bot,
      { name: "webhook", ok: true, message: `Telegram calls ${wanted.url}` },
      { name: "reachable", ok: false, message: "1 waiting at Telegram; its last error was: Connection timed out" },
    ]);
    expect(await account.check(null, signal)).toMatchObject([
      { ok: true },
      {
        name: "webhook",
        ok: false,
        message:
          "Telegram calls a webhook although messages are polled: save the channel again, by PUT …/channels/telegram with {}",
      },
      { ok: true },
    ]);
  });

  test("a check reports a wrong token, and a missing response", async () => {
    const { telegram, signal } = await connected();
    const wrong = { name: "telegram", config: { botToken: "1:wrong", allowedUserIds: [] } } as const;
    const check = (base: string) => accountAt(wrong, base).account.check(wanted, signal);
    expect(await check(telegram.base)).toMatchObject([{ name: "credentials", ok: false }]);
    expect(await check(nowhere)).toMatchObject([{ ok: false, message: /cannot be reached/ }]);
  });
});

describe("polling Telegram", () => {
  test("a quiet bot stays connected for hours, since Telegram ends each poll in time", async () => {
    const clock = new TestClock();
    const telegram = await forTest(telegramServer({ clock }));
    const { account } = accountAt(config(), telegram.base, clock);
    const { taken, connections, ended } = following(account);
    await vi.waitFor(() => expect(telegram.requests).toHaveLength(2));
    for (let polls = 3; polls <= 300; polls += 1) {
      await clock.advance(25_000);
      await vi.waitFor(() => expect(telegram.requests).toHaveLength(polls), { interval: 1 });
    }
    expect(connections()).toBe(299);
    await telegram.say("one");
    await vi.waitFor(() => expect(taken.map(({ text }) => text)).toEqual(["one"]));
    expect(await Promise.race([ended, "It still follows"])).toBe("It still follows");
  });

  test("takes messages in groups, and confirms them once stored", async () => {
    const { account, telegram } = await connected();
    await telegram.say("one");
    await telegram.say("two");
    const { taken, connections, ended, stop } = following(account);
    await vi.waitFor(() => expect(taken.map(({ text }) => text)).toEqual(["one", "two"]));
    await vi.waitFor(() => expect(telegram.updates).toEqual([]));
    await telegram.say("three");
    await vi.waitFor(() => expect(taken).toHaveLength(3));
    expect(connections()).toBeGreaterThanOrEqual(2);
    stop();
    expect(await ended).toEqual(new Error("Stopped"));
  });

  test.each([
    ["nothing", []],
    ["what came already", [{ update_id: 7 }]],
  ])("polls a server that answers at once with %s only once a second", async (_, result) => {
    const clock = new TestClock();
    const server = await forTest(apiServer(() => ({ json: { ok: true, result } })));
    const { account } = accountAt(config(), server.url, clock);
    const { connections, ended, stop } = following(account);
    for (let polls = 2; polls < 6; polls += 1) {
      await vi.waitFor(() => expect(connections()).toBe(polls), { interval: 1 });
      await clock.advance(999);
      expect(server.requests).toHaveLength(polls);
      await clock.advance(1);
    }
    stop();
    expect(await ended).toEqual(new Error("Stopped"));
  });

  test("requests messages again that could not be stored", async () => {
    const { account, telegram, clock } = await connected();
    let attempts = 0;
    const { taken } = following(account, async () => {
      attempts += 1;
      if (attempts < 3) throw new Error("The database is away");
    });
    await telegram.say("one");
    await vi.waitFor(async () => {
      await clock.advance(1_000);
      expect(taken.map(({ text }) => text)).toEqual(["one"]);
    });
    expect(attempts).toBe(3);
    await vi.waitFor(() => expect(telegram.updates).toEqual([]));
  });

  test("a webhook, another program and an outage end polling", async () => {
    const { account, telegram, signal } = await connected();
    await account.register({ url: "https://a.example", secret }, signal);
    const first = following(account);
    expect(await first.ended).toMatchObject({ isPermanent: true, message: /still calls a webhook/ });
    await account.register(null, signal);
    const second = following(account);
    await vi.waitFor(() => expect(telegram.requests.at(-1)?.path).toContain("getUpdates"));
    const third = following(account);
    expect(await second.ended).toMatchObject({ isPermanent: false, message: /Another program/ });
    third.stop();
    telegram.fail("getUpdates", { status: 500 });
    expect(await following(account).ended).toMatchObject({ isPermanent: false });
  });

  test("a poll that Telegram does not end is stopped after 35 seconds", async () => {
    const { account, telegram, clock } = await connected();
    const { ended } = following(account);
    await vi.waitFor(() => expect(telegram.requests).toHaveLength(2));
    await clock.advance(35_000);
    expect(await ended).toMatchObject({ isPermanent: false, mayBeDone: false });
  });
});

test("the stand-in calls the webhook with its secret", async () => {
  const { account, telegram, signal } = await connected();
  const calls: Headers[] = [];
  const target = await forTest(
    apiServer(({ headers }) => {
      calls.push(new Headers(headers as Record<string, string>));
      return { status: calls.length === 1 ? 503 : 200 };
    }),
  );
  await account.register({ url: `${target.url}/hook`, secret }, signal);
  expect(await telegram.say("hello", { from: ada, chat: adaChat })).toBe(503);
  expect(await telegram.redeliver()).toEqual([200]);
  expect(calls.map((headers) => headers.get("X-Telegram-Bot-Api-Secret-Token"))).toEqual([secret, secret]);
  expect(JSON.parse(target.requests[1]?.body ?? "")).toMatchObject({ message: { text: "hello" } });
});
