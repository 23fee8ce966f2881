import {
  type Arrival,
  type ChannelCheck,
  chatOf,
  FileTooLarge,
  type MessengerAccount,
  MessengerError,
  type SlackConfig,
  type WantedWebhook,
  type WebhookCall,
} from "../../../core/channels/messengers.ts";
import { sameText, toHex } from "../../../core/ids.ts";
import { clip } from "../../../core/text/text.ts";
import { jsonObject, mimeOf, objectOf, textOf } from "../fields.ts";
import { messengerHttp } from "../http.ts";
import type { AccountOptions } from "../options.ts";
import { escaped, rendered } from "../rendered.ts";
import { hmac } from "../signature.ts";
import { slackApi } from "./api.ts";
import { readEvent, rootOf } from "./messages.ts";
import { followSocket } from "./socket.ts";

/** The oldest accepted signature, in seconds (decisions §8). */
const windowSeconds = 300;

/** The longest challenge; Slack's have some 50 characters. */
const longestChallenge = 1_000;

const loadMarkup = async () => (await import("./mrkdwn.ts")).slackMrkdwn;

/** A bot in a workspace. A `channelId` is a channel's id, in a thread with `:` and the `ts` of its first message. */
export function slackAccount(config: SlackConfig, options: AccountOptions): MessengerAccount {
  const { clock, fetch, identities, base, scrub, words } = options;
  const { botToken, signingSecret, appToken } = config;
  const http = messengerHttp({ name: "Slack", clock, fetch, scrub });
  const api = slackApi({ http, clock, base, words });

  const botId = () =>
    identities(`slack:${botToken}`, async (signal) => {
      const id = textOf((await api("auth.test", botToken, {}, { signal })).user_id);
      if (id === "") throw new MessengerError("Slack did not name the bot");
      return id;
    });
  const read = async (payload: unknown): Promise<Arrival[]> => {
    const arrival = await readEvent(payload, botId);
    return arrival === null ? [] : [arrival];
  };

  const openSocket = async (token: string, signal: AbortSignal): Promise<string> => {
    const address = textOf((await api("apps.connections.open", token, {}, { signal })).url);
    const scheme = base.startsWith("http:") ? /^wss?:\/\// : /^wss:\/\//;
    if (!scheme.test(address) || !URL.canParse(address)) throw new MessengerError("Slack did not say where to connect");
    return address;
  };

  const account: MessengerAccount = {
    typingMs: null,
    answers: () => true,

    refuses: ({ headers }, now) => (signingSecret && isFresh(headers, now) ? null : 401),

    async receive(call, now) {
      if (!signingSecret || !(await isSigned(call, signingSecret, now))) return { kind: "refused", status: 401 };
      const payload = jsonObject(new TextDecoder().decode(call.body));
      if (payload?.type === "url_verification") {
        return { kind: "answer", text: clip(textOf(payload.challenge), longestChallenge) };
      }
      if (payload?.type !== "event_callback") return { kind: "arrivals", arrivals: [] };
      try {
        return { kind: "arrivals", arrivals: await read(payload) };
      } catch {
        return { kind: "later" };
      }
    },

    async send(channelId, markdown, signal) {
      const [channel = "", thread] = channelId.split(":");
      const text = (await rendered(loadMarkup, markdown)) ?? escaped(markdown);
      const place = thread === undefined ? { channel } : { channel, thread_ts: thread };
      const params = { ...place, text, unfurl_links: "false", unfurl_media: "false" };
      return textOf((await api("chat.postMessage", botToken, params, { signal, isSend: true })).ts);
    },

    async typing() {},

    async download(file, maxBytes, signal) {
      if ((file.size ?? 0) > maxBytes) throw new FileTooLarge(maxBytes);
      const url = /^[A-Za-z0-9]+$/.test(file.ref) ? await addressOf(file.ref, signal) : file.ref;
      if (!isSlacks(url, base)) throw new MessengerError("The file does not lie at Slack", { isPermanent: true });
      const headers = { Authorization: `Bearer ${botToken}` };
      return http.download({ url, method: "GET", headers, signal }, maxBytes, async (answer) => {
        const { status } = answer;
        // Slack sends its login page, or a redirect to it, when the token may not read files.
        const isLogin = status === 200 && mimeOf(answer.headers.get("Content-Type")) === "text/html";
        if (isLogin && file.mime !== "text/html") throw noRight();
        if (status === 200) return answer.bytes();
        if (status >= 300 && status < 400) throw noRight();
        throw answer.refusal();
      });
    },

    async quoted({ channelId, sender }, messageId, signal) {
      const params = { channel: chatOf(channelId), ts: messageId, limit: "1" };
      const [answer, bot] = await Promise.all([api("conversations.replies", botToken, params, { signal }), botId()]);
      return rootOf(answer, messageId, { botId: bot, user: sender });
    },

    async register() {},

    async prove(signal) {
      const { user, team } = await api("auth.test", botToken, {}, { signal });
      return { name: "credentials", ok: true, message: `The bot is ${await words(user)} in ${await words(team)}` };
    },

    async check(wanted, signal) {
      try {
        const credentials = await account.prove(signal);
        if (wanted !== null) return [credentials, byHand(wanted)];
        return appToken === null ? [credentials] : [credentials, await socketCheck(appToken, signal)];
      } catch (error) {
        if (!(error instanceof MessengerError)) throw error;
        return [{ name: "credentials", ok: false, message: error.message }];
      }
    },
  };

  const addressOf = async (id: string, signal: AbortSignal): Promise<string> => {
    const file = objectOf((await api("files.info", botToken, { file: id }, { signal })).file);
    return textOf(file.url_private_download) || textOf(file.url_private);
  };

  const socketCheck = async (token: string, signal: AbortSignal): Promise<ChannelCheck> => {
    const name = "reachable";
    try {
      await openSocket(token, signal);
      return { name, ok: true, message: "Slack opens a connection for Socket Mode" };
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      return { name, ok: false, message: `Socket Mode: ${error.message}` };
    }
  };

  if (appToken === null) return account;
  return {
    ...account,
    follow: (take, signal, onConnected) =>
      followSocket({ clock, read, take, onConnected, open: (opening) => openSocket(appToken, opening) }, signal),
  };
}

/** Whether a request is signed and fresh (https://docs.slack.dev/authentication/verifying-requests-from-slack). */
async function isSigned({ headers, body }: WebhookCall, secret: string, now: number): Promise<boolean> {
  if (!isFresh(headers, now)) return false;
  const { moment, presented } = signatureIn(headers);
  const start = new TextEncoder().encode(`v0:${moment}:`);
  const signed = new Uint8Array(start.length + body.length);
  signed.set(start);
  signed.set(body, start.length);
  return sameText(presented, `v0=${toHex(await hmac("SHA-256", secret, signed))}`);
}

/** Whether the head has a recent signature in Slack's form. */
function isFresh(headers: Headers, now: number): boolean {
  const { moment, presented } = signatureIn(headers);
  if (!/^v0=[0-9a-f]{64}$/.test(presented) || !/^\d{1,12}$/.test(moment)) return false;
  return Math.abs(now / 1_000 - Number(moment)) <= windowSeconds;
}

const signatureIn = (headers: Headers) => ({
  moment: headers.get("X-Slack-Request-Timestamp") ?? "",
  presented: headers.get("X-Slack-Signature") ?? "",
});

/** Whether the token may be sent to an address. */
function isSlacks(address: string, base: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.origin === URL.parse(base)?.origin) return true;
  return url.protocol === "https:" && url.port === "" && /(^|\.)slack\.com$/.test(url.hostname);
}

const noRight = () =>
  new MessengerError("Slack does not give the file: add the scope files:read and install the app again", {
    isPermanent: true,
  });

/** A person has to check the address, since Slack does not show which address it calls. */
const byHand = ({ url }: WantedWebhook): ChannelCheck => ({
  name: "webhook",
  ok: true,
  message: `Not checked, since Slack does not say which address it calls: compare it by hand. In the Slack app, under Event Subscriptions, the Request URL must be ${url}, with the bot events message.im and app_mention`,
});
