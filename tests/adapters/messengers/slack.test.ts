import { describe, expect, test, vi } from "vitest";
import { objectOf } from "../../../src/adapters/messengers/fields.ts";
import { slackText } from "../../../src/adapters/messengers/slack/messages.ts";
import { slackEvent, slackHeaders, slackServer, slackTokens } from "../../messengers/slack-server.ts";
import {
  accountAt,
  bytesOf,
  following,
  forTest,
  messageIn,
  nothingHidden,
  nowhere,
  payloads,
  webhookCall,
} from "./accounts.ts";

const events = payloads("slack");
const now = Date.UTC(2026, 0, 1);
const { botToken, signingSecret, appToken } = slackTokens;
const byWebhook = { name: "slack", config: { botToken, signingSecret, appToken: null } } as const;
const bySocket = { name: "slack", config: { botToken, signingSecret: null, appToken } } as const;

const signed = (body: string, at = now) => webhookCall(body, { headers: new Headers(slackHeaders(body, at)) });

async function connected(config: typeof byWebhook | typeof bySocket = byWebhook) {
  const slack = await forTest(slackServer());
  return { slack, ...accountAt(config, slack.base) };
}

async function read(name: string) {
  const { account } = accountAt(byWebhook);
  return messageIn(await account.receive(signed(JSON.stringify(events[name])), now));
}

const direct = {
  providerId: "D024BE91L:1355517523.000005",
  channelId: "D024BE91L",
  sender: "U2147483697",
  senderName: null,
  isPrivate: true,
  text: "Hello hello can you hear me?",
  files: [],
  edits: null,
  quotes: [],
  album: null,
};
const mention = {
  ...direct,
  isPrivate: false,
  providerId: "C123ABC456:1515449522.000016",
  channelId: "C123ABC456:1515449522.000016",
  sender: "U061F7AUR",
  text: "is it everything a river should be?",
};

describe("what people write in Slack", () => {
  test.each([
    ["direct", direct],
    [
      "directThread",
      {
        ...direct,
        providerId: "D024BE91L:1355517540.000005",
        channelId: "D024BE91L:1355517523.000005",
        text: "more",
        quotes: [{ kind: "reply", author: "sender", text: "", passage: null, messageId: "1355517523.000005" }],
      },
    ],
    ["mention", mention],
    ["mentionAsMessage", mention],
    [
      "mentionInThread",
      {
        ...mention,
        providerId: "C123ABC456:1515449600.000100",
        channelId: "C123ABC456:1515449500.000001",
        text: "Ask or @ada & @U2: the <page> (https://a.example/?x=1&y=2) in #general, @here a@b.example c.example https://d.example",
        quotes: [
          {
            kind: "reply",
            author: { id: "U1", name: null },
            text: "",
            passage: null,
            messageId: "1515449500.000001",
          },
        ],
      },
    ],
    [
      "threadOfTheBot",
      {
        ...mention,
        providerId: "C123ABC456:1515449700.000100",
        channelId: "C123ABC456:1515449500.000001",
        text: "and then?",
      },
    ],
    [
      "files",
      {
        ...direct,
        providerId: "D024BE91L:1531763348.000001",
        sender: "U061F7AUR",
        text: "",
        files: [
          {
            ref: "https://files.slack.com/files-pri/T061EG9R6-F0S43P1CZ/download/billair.gif",
            name: "billair.gif",
            mime: "image/gif",
            size: 144538,
          },
          { ref: "F0SHARED1", name: "file", mime: "application/octet-stream", size: null },
        ],
      },
    ],
    [
      "changed",
      {
        ...direct,
        providerId: "D024BE91L:1355517523.000005:1358878755.000000",
        text: "Hello, world!",
        edits: "D024BE91L:1355517523.000005",
      },
    ],
  ])("%s", async (name, expected) => {
    expect(await read(name)).toEqual(expected);
  });

  test.each([
    "channelChatter",
    "unfurled",
    "unfurledAfterEdit",
    "changedBySlack",
    "own",
    "otherBot",
    "joined",
    "reaction",
  ])("%s is no message for the agent", async (name) => {
    expect(await read(name)).toBeNull();
  });

  test("a deleted message is reported with its chat", async () => {
    const deletion = async (event: object) => {
      const body = JSON.stringify({
        ...objectOf(events.deleted),
        event: { ...objectOf(objectOf(events.deleted).event), ...event },
      });
      const { account } = accountAt(byWebhook);
      return account.receive(signed(body), now);
    };
    const told = (deletes: string, channelId: string) => ({ kind: "arrivals", arrivals: [{ deletes, channelId }] });
    expect(await deletion({})).toEqual(told("D024BE91L:1355517523.000005", "D024BE91L"));
    const channel = { channel: "C1", channel_type: "channel" };
    const ts = "1355517523.000005";
    expect(await deletion(channel)).toEqual(told(`C1:${ts}`, `C1:${ts}`));
    const inThread = { ...channel, previous_message: { type: "message", ts, thread_ts: "1355517000.000001" } };
    expect(await deletion(inThread)).toEqual(told(`C1:${ts}`, "C1:1355517000.000001"));
    const tombstone = { type: "message", subtype: "tombstone", user: "USLACKBOT", ts, thread_ts: ts };
    const ofThread = { ...channel, subtype: "message_changed", deleted_ts: undefined, message: tombstone };
    expect(await deletion(ofThread)).toEqual(told(`C1:${ts}`, `C1:${ts}`));
    expect(await deletion({ deleted_ts: "yesterday" })).toEqual({ kind: "arrivals", arrivals: [] });
  });

  test("reads a forwarded message with its author, and mentions nobody", async () => {
    const share = { is_share: true, is_msg_unfurl: true, fallback: "[July 1st] Bob: Down", channel_id: "C9", id: 1 };
    const down = { ...share, author_name: "Bob\nBuilder", text: "It is *down* &amp; <@U0LAN0Z89> sleeps" };
    const picture = { id: "F1", mimetype: "image/png", name: "graph.png", url_private: "https://files.slack.com/F1" };
    const preview = { is_msg_unfurl: true, text: "A preview of a link" };
    const forwarding = async (name: string, text: string, ...attachments: object[]) => {
      const payload = objectOf(events[name]);
      const event = { ...objectOf(payload.event), text, attachments };
      const { account } = accountAt(byWebhook);
      return messageIn(await account.receive(signed(JSON.stringify({ ...payload, event })), now));
    };
    const quote = { kind: "forward", author: null, text: "", passage: null, messageId: null };
    const told = { ...quote, author: { id: null, name: "Bob Builder" }, text: "It is *down* & @U0LAN0Z89 sleeps" };
    expect(await forwarding("direct", "", down)).toMatchObject({ text: "", files: [], quotes: [told] });
    expect(await forwarding("direct", "What is this?", preview, down)).toMatchObject({
      text: "What is this?",
      quotes: [{ ...quote, text: "A preview of a link" }, told],
    });
    expect(await forwarding("mention", "<@U0LAN0Z89>", down)).toMatchObject({ text: "", quotes: [told] });
    const withoutText = { ...share, author_id: "U0LAN0Z89", files: [picture] };
    expect(await forwarding("direct", "", withoutText)).toMatchObject({
      text: "",
      quotes: [{ ...quote, author: "agent" }],
      files: [{ name: "graph.png", isQuoted: true }],
    });
    const ofSender = { ...share, author_id: "U2147483697", text: "Up" };
    expect(await forwarding("direct", "", ofSender)).toMatchObject({ quotes: [{ author: "sender", text: "Up" }] });
    expect(await forwarding("channelChatter", "look", down)).toBeNull();
    expect(await forwarding("direct", "", { ...preview, is_msg_unfurl: false })).toBeNull();
  });

  test("reads the bot's id, once, for an event that does not name the bot", async () => {
    const { account, slack } = await connected();
    const receive = () => account.receive(signed(JSON.stringify(events.withoutAuthorizations)), now);
    slack.fail("auth.test", { status: 500 });
    expect(await receive()).toEqual({ kind: "later" });
    expect(messageIn(await receive())).toMatchObject({ text: "hi", channelId: "C123ABC456:1515449900.000100" });
    await receive();
    expect(slack.requests).toHaveLength(2);
  });

  test("answers a challenge if it is signed", async () => {
    const { account } = accountAt(byWebhook);
    const body = JSON.stringify(events.challenge);
    const answer = { kind: "answer", text: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" };
    expect(await account.receive(signed(body), now)).toEqual(answer);
    expect(await account.receive(webhookCall(body), now)).toEqual({ kind: "refused", status: 401 });
  });

  test("reads Slack's own marks in linear time", () => {
    expect(slackText("<@U1> <!subteam^S1|@team> <!date^1^{date}|today> <tel:+39|+39> a < b", "U1")).toBe(
      "@team today +39 a < b",
    );
    const started = performance.now();
    for (const part of ["<", "<a|", "<@U1>", "|>"]) slackText(part.repeat(300_000), "U1");
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe("the signature of a call", () => {
  const refused = { kind: "refused", status: 401 };

  test("equals that in Slack's documentation", async () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = new Headers({
      "X-Slack-Request-Timestamp": "1531420618",
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    });
    const { account } = accountAt(byWebhook);
    const received = await account.receive(webhookCall(body, { headers }), 1_531_420_618_000);
    expect(received).toEqual({ kind: "arrivals", arrivals: [] });
    expect(await account.receive(webhookCall(`${body} `, { headers }), 1_531_420_618_000)).toEqual(refused);
  });

  test("covers the bytes, and is valid for five minutes", async () => {
    const { account } = accountAt(byWebhook);
    const body = JSON.stringify(events.direct);
    expect(await account.receive(signed(body, now - 300_000), now)).toMatchObject({ kind: "arrivals" });
    expect(await account.receive(signed(body, now - 301_000), now)).toEqual(refused);
    expect(await account.receive(signed(body, now + 302_000), now)).toEqual(refused);
    expect(await account.receive({ ...signed(body), body: bytesOf(`${body} `) }, now)).toEqual(refused);
    for (const [name, value] of [
      ["X-Slack-Request-Timestamp", "soon"],
      ["X-Slack-Request-Timestamp", String(now / 1_000 + 1)],
      ["X-Slack-Signature", "v0="],
    ] as const) {
      const call = signed(body);
      call.headers.set(name, value);
      expect(await account.receive(call, now)).toEqual(refused);
    }
  });

  test("without a signing secret every call is refused", async () => {
    const { account } = accountAt(bySocket);
    expect(await account.receive(signed(JSON.stringify(events.direct)), now)).toEqual(refused);
    const body = JSON.stringify(events.direct);
    const empty = accountAt({ name: "slack", config: { botToken, signingSecret: "", appToken: null } }).account;
    const call = webhookCall(body, { headers: new Headers(slackHeaders(body, now, "")) });
    expect(await empty.receive(call, now)).toEqual(refused);
  });
});

describe("sending to Slack", () => {
  test("a message goes to a channel or a thread, as Slack marks text, without previews", async () => {
    const { account, slack, signal } = await connected();
    expect(await account.send("D1", "**Hi** [you](https://a.example)", signal)).toBe("1767225600.000001");
    await account.send("C1:1515449522.000016", "x", signal);
    expect(slack.sent).toEqual([
      { ts: "1767225600.000001", channel: "D1", thread: null, text: "*Hi* <https://a.example|you>" },
      { ts: "1767225600.000002", channel: "C1", thread: "1515449522.000016", text: "x" },
    ]);
    const asked = new URLSearchParams(slack.requests[0]?.body);
    expect(asked.get("unfurl_links")).toBe("false");
    expect(account.typingMs).toBeNull();
    await account.typing("D1", signal);
    await account.register(null, signal);
    expect(slack.requests).toHaveLength(2);
  });

  test("text that can't be rendered mentions nobody", async () => {
    const { account, slack, signal } = await connected();
    await account.send("D1", "[<!here>]: https://a.example", signal);
    await account.send("D1", `${"> ".repeat(1_900)}<!here>`, signal);
    expect(slack.sent.map(({ text }) => text).join()).not.toContain("<!");
    expect(slack.sent[0]?.text).toBe("[&lt;!here&gt;]: https://a.example");
  });

  const refusal = (error: string, more = {}) => ({ json: { ok: false, error, ...more } });

  test.each([
    [
      { status: 429, headers: { "Retry-After": "30" }, json: { ok: false, error: "ratelimited" } },
      { isPermanent: false, retryAfterMs: 30_000, mayBeDone: false },
    ],
    [
      { status: 429, headers: { "Retry-After": "1" }, bytes: "" },
      { isPermanent: false, retryAfterMs: 1_000 },
    ],
    [refusal("ratelimited"), { isPermanent: false }],
    [refusal("channel_not_found"), { isPermanent: true, message: /invite it/ }],
    [refusal("not_in_channel"), { isPermanent: true }],
    [refusal("is_archived"), { isPermanent: true }],
    [refusal("msg_too_long"), { isPermanent: true }],
    [refusal("account_inactive"), { isPermanent: true, message: /install the app again/ }],
    [refusal("invalid_auth"), { isPermanent: true }],
    [refusal("token_revoked"), { isPermanent: true }],
    [refusal("missing_scope", { needed: "chat:write", provided: "im:history" }), { message: /the scope chat:write/ }],
    [refusal("thread_not_found"), { isPermanent: true, message: "Slack refused chat.postMessage: thread_not_found" }],
    [refusal("internal_error"), { isPermanent: false, mayBeDone: true }],
    [
      { status: 503, bytes: "busy" },
      { isPermanent: false, mayBeDone: false },
    ],
    [
      { status: 200, bytes: "<html>" },
      { isPermanent: false, mayBeDone: true },
    ],
    ["reset", { isPermanent: false, mayBeDone: true }],
  ] as const)("a failure is told: %#", async (failure, expected) => {
    const { account, slack, signal } = await connected();
    slack.fail("chat.postMessage", failure);
    const error = await account.send("D1", "x", signal).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "MessengerError", ...expected });
    expect(String(error)).not.toContain("xoxb");
  });
});

describe("files at Slack", () => {
  const file = { ref: "", name: "a.txt", mime: "text/plain", size: null };

  test("a file is fetched with the token, by its address or its id", async () => {
    const { account, slack, signal } = await connected();
    slack.files.set("/files-pri/F1", { bytes: Buffer.from("tea"), mime: "text/plain" });
    const text = async (ref: string) => Buffer.from(await account.download({ ...file, ref }, 100, signal)).toString();
    expect(await text(`${slack.url}/files-pri/F1`)).toBe("tea");
    expect(await text("F1")).toBe("tea");
    await expect(text("F2")).rejects.toMatchObject({ isPermanent: true });
  });

  test("sends the token only to Slack", async () => {
    const asked: string[] = [];
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push(String(url));
      return new Response("tea");
    };
    const { createMessengers } = await import("../../../src/adapters/messengers/index.ts");
    const { clock, signal } = accountAt(byWebhook);
    const account = createMessengers({ clock, fetch }).account(byWebhook, nothingHidden);
    for (const ref of [
      "https://slack.com.evil.example/a",
      "https://evilslack.com/a",
      "http://files.slack.com/a",
      "https://files.slack.com:8443/a",
      "https://x@files.slack.com/a",
      "https://evil.example/?https://files.slack.com",
      "file:///etc/passwd",
      "not an address",
    ]) {
      await expect(account.download({ ...file, ref }, 100, signal)).rejects.toMatchObject({ isPermanent: true });
    }
    expect(asked).toEqual([]);
    await account.download({ ...file, ref: "https://files.slack.com/files-pri/a" }, 100, signal);
    expect(asked).toEqual(["https://files.slack.com/files-pri/a"]);
  });

  test("a login page, a redirect and too many bytes are errors", async () => {
    const { account, slack, signal } = await connected();
    const ref = `${slack.url}/files-pri/F1`;
    slack.files.set("/files-pri/F1", { bytes: new Uint8Array(101), mime: "text/plain" });
    const noRight = { isPermanent: true, message: /files:read/ };
    slack.fail("/files-pri/", { bytes: "<!DOCTYPE html>", headers: { "Content-Type": "text/html; charset=utf-8" } });
    await expect(account.download({ ...file, ref }, 100, signal)).rejects.toMatchObject(noRight);
    slack.fail("/files-pri/", { status: 302, headers: { Location: `${slack.url}/elsewhere` } });
    await expect(account.download({ ...file, ref }, 100, signal)).rejects.toMatchObject(noRight);
    await expect(account.download({ ...file, ref }, 100, signal)).rejects.toThrow("more than 100 bytes");
    slack.fail("/files-pri/", { status: 503, headers: { "Retry-After": "7" } });
    const later = { isPermanent: false, retryAfterMs: 7_000 };
    await expect(account.download({ ...file, ref }, 100, signal)).rejects.toMatchObject(later);
    expect(slack.requests.map(({ path }) => path)).not.toContain("/elsewhere");
  });
});

describe("a check of Slack", () => {
  const wanted = { url: "https://agents.example/webhooks/slack/acme", secret: null };

  test("returns the bot's name and where its address is set", async () => {
    const { account, signal } = await connected();
    expect(await account.check(wanted, signal)).toEqual([
      { name: "credentials", ok: true, message: "The bot is helper in Acme" },
      {
        name: "webhook",
        ok: true,
        message: expect.stringMatching(`^Not checked, .*compare it by hand.* ${wanted.url},`),
      },
    ]);
    expect(await account.check(null, signal)).toMatchObject([{ name: "credentials", ok: true }]);
  });

  test("it tries the app-level token", async () => {
    const { account, slack, signal } = await connected(bySocket);
    expect(await account.check(null, signal)).toMatchObject([{ ok: true }, { name: "reachable", ok: true }]);
    slack.fail("apps.connections.open", { json: { ok: false, error: "not_allowed_token_type" } });
    expect(await account.check(null, signal)).toMatchObject([
      { ok: true },
      { name: "reachable", ok: false, message: /another kind of Slack token/ },
    ]);
  });

  test("reports wrong credentials, and a missing response", async () => {
    const { slack, signal } = await connected();
    const wrong = { name: "slack", config: { ...byWebhook.config, botToken: "xoxb-wrong" } } as const;
    const check = (base: string) => accountAt(wrong, base).account.check(wanted, signal);
    expect(await check(slack.base)).toMatchObject([{ name: "credentials", ok: false, message: /invalid_auth/ }]);
    expect(await check(nowhere)).toMatchObject([{ name: "credentials", ok: false, message: /cannot be reached/ }]);
  });
});

describe("Socket Mode", () => {
  test("is not used without an app-level token", () => {
    expect(accountAt(byWebhook).account.follow).toBeUndefined();
  });

  test("takes events in order, and acknowledges each when it is stored", async () => {
    const { account, slack } = await connected(bySocket);
    const gate = Promise.withResolvers<void>();
    const { taken, connections, ended, stop } = following(account, () => gate.promise);
    await vi.waitFor(() => expect(connections()).toBe(1));
    await slack.say("one");
    await slack.say("two");
    await slack.say("mine", { bot_id: "B1" });
    slack.tell({ type: "slash_commands", envelope_id: "command-1", payload: {} });
    expect(slack.acknowledged).toEqual([]);
    gate.resolve();
    await vi.waitFor(() => expect(slack.acknowledged).toEqual(["envelope-1", "envelope-2", "envelope-3", "command-1"]));
    expect(taken.map(({ text }) => text)).toEqual(["one", "two"]);
    stop();
    expect(await ended).toEqual(new Error("Stopped"));
    await vi.waitFor(() => expect(slack.peers).toHaveLength(0));
  });

  test("does not acknowledge events that could not be stored, so that Slack sends them again", async () => {
    const { account, slack } = await connected(bySocket);
    let attempts = 0;
    const { taken, connections } = following(account, async () => {
      attempts += 1;
      if (attempts === 1) throw new Error("The database is away");
    });
    await vi.waitFor(() => expect(connections()).toBe(1));
    await slack.say("one");
    await vi.waitFor(() => expect(attempts).toBe(1));
    expect(slack.acknowledged).toEqual([]);
    slack.redeliver();
    await vi.waitFor(() => expect(slack.acknowledged).toEqual(["envelope-1"]));
    expect(taken).toHaveLength(1);
  });

  test.each([
    "warning",
    "refresh_requested",
  ])("%s: the next connection opens before the old one ends", async (reason) => {
    const { account, slack } = await connected(bySocket);
    const { taken, connections } = following(account);
    await vi.waitFor(() => expect(connections()).toBe(1));
    slack.tell({ type: "disconnect", reason, debug_info: { host: "wss-111.slack.com" } });
    await vi.waitFor(() => expect(connections()).toBe(2));
    await vi.waitFor(() => expect(slack.peers).toHaveLength(1));
    await slack.say("still here");
    await vi.waitFor(() => expect(taken).toHaveLength(1));
  });

  test("replaces a connection that is silent for ten minutes", async () => {
    const { account, slack, clock } = await connected(bySocket);
    const { connections } = following(account);
    await vi.waitFor(() => expect(connections()).toBe(1));
    await clock.advance(9 * 60_000);
    await slack.say("alive");
    await vi.waitFor(() => expect(slack.acknowledged).toHaveLength(1));
    await clock.advance(9 * 60_000);
    expect(connections()).toBe(1);
    await clock.advance(60_000);
    await vi.waitFor(() => expect(connections()).toBe(2));
  });

  test("reconnects after a connection that lasted a while; one that breaks at once is a failure", async () => {
    const { account, slack, clock } = await connected(bySocket);
    const { connections, ended } = following(account);
    await vi.waitFor(() => expect(connections()).toBe(1));
    await clock.advance(10_000);
    slack.peers[0]?.close();
    await vi.waitFor(() => expect(connections()).toBe(2));
    slack.peers.at(-1)?.drop();
    expect(await ended).toMatchObject({ name: "MessengerError", isPermanent: false, message: /connection/ });
  });

  test("ends after a refusal by Slack", async () => {
    const { account, slack, clock } = await connected(bySocket);
    slack.fail("apps.connections.open", { json: { ok: false, error: "invalid_auth" } });
    expect(await following(account).ended).toMatchObject({ isPermanent: true });
    slack.fail("apps.connections.open", { json: { ok: true, url: "https://evil.example" } });
    expect(await following(account).ended).toMatchObject({ message: "Slack did not say where to connect" });
    const off = following(account);
    await vi.waitFor(() => expect(off.connections()).toBe(1));
    slack.tell({ type: "disconnect", reason: "link_disabled" });
    expect(await off.ended).toMatchObject({ isPermanent: true, message: /Socket Mode is turned off/ });
    await vi.waitFor(() => expect(slack.peers).toHaveLength(0));
    slack.state.greets = false;
    const silent = following(account);
    await vi.waitFor(() => expect(slack.peers.length).toBeGreaterThan(0));
    await clock.advance(10_000);
    expect(await silent.ended).toMatchObject({ isPermanent: false, message: "Slack did not say hello" });
  });

  test("ignores nonsense on the socket", async () => {
    const { account, slack } = await connected(bySocket);
    const { taken, connections } = following(account);
    await vi.waitFor(() => expect(connections()).toBe(1));
    for (const payload of [null, 7, [], {}, { event: "x" }, slackEvent({ type: "message", text: {} })]) {
      slack.tell({ type: "events_api", envelope_id: `odd-${JSON.stringify(payload)?.length}`, payload });
    }
    slack.peers[0]?.send("[".repeat(60_000));
    slack.peers[0]?.send("not JSON");
    await slack.say("sense");
    await vi.waitFor(() => expect(taken).toHaveLength(1));
    await vi.waitFor(() => expect(slack.acknowledged).toHaveLength(7));
  });
});

test("the stand-in calls the Request URL with a signature", async () => {
  const { account, slack } = await connected();
  const answers: unknown[] = [];
  const { apiServer } = await import("../../messengers/api-server.ts");
  const target = await forTest(
    apiServer(async ({ headers, body }) => {
      const call = webhookCall(body, { headers: new Headers(headers as Record<string, string>) });
      answers.push(await account.receive(call, Date.now()));
      return {};
    }),
  );
  slack.state.requestUrl = `${target.url}/hook`;
  expect(await slack.say("hello")).toBe(200);
  await slack.call({ type: "url_verification", challenge: "abc" });
  expect(answers).toMatchObject([{ arrivals: [{ text: "hello" }] }, { kind: "answer", text: "abc" }]);
});
