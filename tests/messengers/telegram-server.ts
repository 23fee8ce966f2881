import { systemClock } from "../../src/adapters/node/clock.ts";
import type { ApiAnswer, ApiRequest } from "./api-server.ts";
import { apiServer } from "./api-server.ts";

type Fields = Record<string, unknown>;

interface SentToTelegram {
  messageId: number;
  chatId: number;
  topicId: number | null;
  text: string;
  html: boolean;
}

export const telegramToken = "123456789:AAExampleToken-of_a_bot0123456789abc";
export const telegramBot = { id: 123456789, is_bot: true, first_name: "Acme", username: "acme_helper_bot" };

/** A person and the private chat with them. */
export const ada = { id: 4711, is_bot: false, first_name: "Ada", last_name: "Lovelace", username: "ada" };
export const adaChat = { id: 4711, type: "private", first_name: "Ada", last_name: "Lovelace", username: "ada" };

const refuse = (status: number, description: string, parameters?: Fields): ApiAnswer => ({
  status,
  json: { ok: false, error_code: status, description, ...(parameters ? { parameters } : {}) },
});
const result = (value: unknown): ApiAnswer => ({ json: { ok: true, result: value } });

/** A Telegram with one bot. Its polls use `clock`, the poller's. `say` acts for people; updates are sent to the bot's webhook, or wait for polls. */
export async function telegramServer({ token = telegramToken, bot = telegramBot, clock = systemClock } = {}) {
  const sent: SentToTelegram[] = [];
  const actions: { chatId: number; topicId: number | null; action: string }[] = [];
  const files = new Map<string, { path: string; bytes: Uint8Array }>();
  const updates: Fields[] = [];
  let webhook: { url: string; secret: string | null } | null = null;
  let lastError: string | null = null;
  let [nextUpdate, nextMessage] = [1_000, 1];
  let poller: ((answer: ApiAnswer) => void) | null = null;

  const methods: Record<string, (params: Fields) => ApiAnswer | Promise<ApiAnswer>> = {
    getMe: () => result({ ...bot, can_join_groups: true, can_read_all_group_messages: false }),
    setWebhook({ url, secret_token }) {
      webhook = { url: String(url), secret: secret_token === undefined ? null : String(secret_token) };
      poller?.(refuse(409, "Conflict: terminated by setWebhook request"));
      return { json: { ok: true, result: true, description: "Webhook was set" } };
    },
    deleteWebhook() {
      webhook = null;
      return { json: { ok: true, result: true, description: "Webhook was deleted" } };
    },
    getWebhookInfo: () =>
      result({
        url: webhook?.url ?? "",
        has_custom_certificate: false,
        pending_update_count: updates.length,
        ...(lastError === null ? {} : { last_error_date: 1_767_225_600, last_error_message: lastError }),
      }),
    getUpdates({ offset, timeout }) {
      if (webhook) {
        return refuse(
          409,
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        );
      }
      poller?.(
        refuse(
          409,
          "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
        ),
      );
      while (updates[0] && Number(updates[0].update_id) < Number(offset ?? 0)) updates.shift();
      if (updates.length > 0 || !timeout) return result(updates.slice(0, 100));
      return new Promise((resolve) => {
        const cancel = clock.after(Number(timeout) * 1_000, () => poller?.(result([])));
        poller = (answer) => {
          cancel();
          poller = null;
          resolve(answer);
        };
      });
    },
    sendMessage({ chat_id, message_thread_id, text, parse_mode }) {
      const problem = parse_mode === "HTML" ? problemOf(String(text)) : null;
      if (problem !== null) return refuse(400, `Bad Request: can't parse entities: ${problem}`);
      const plain = parse_mode === "HTML" ? String(text).replaceAll(/<[^>]*>/g, "") : String(text);
      if (plain.trim() === "") return refuse(400, "Bad Request: message text is empty");
      if (plain.length > 4_096) return refuse(400, "Bad Request: message is too long");
      const messageId = nextMessage++;
      const topicId = message_thread_id === undefined ? null : Number(message_thread_id);
      sent.push({ messageId, chatId: Number(chat_id), topicId, text: String(text), html: parse_mode === "HTML" });
      return result({ message_id: messageId, from: bot, chat: { id: chat_id }, date: 1_767_225_600, text: plain });
    },
    sendChatAction({ chat_id, message_thread_id, action }) {
      const topicId = message_thread_id === undefined ? null : Number(message_thread_id);
      actions.push({ chatId: Number(chat_id), topicId, action: String(action) });
      return result(true);
    },
    getFile({ file_id }) {
      const file = files.get(String(file_id));
      if (!file) return refuse(400, "Bad Request: wrong file_id or the file is temporarily unavailable");
      if (file.bytes.length > 20 * 1024 * 1024) return refuse(400, "Bad Request: file is too big");
      return result({ file_id, file_unique_id: `u${file_id}`, file_size: file.bytes.length, file_path: file.path });
    },
  };

  const handle = ({ path, body }: ApiRequest): ApiAnswer | Promise<ApiAnswer> => {
    const [, kind, rest = ""] = /^\/(file\/bot|bot)([^?]*)/.exec(path) ?? [];
    const [presented, ...segments] = rest.split("/");
    if (presented !== token) return refuse(401, "Unauthorized");
    if (kind === "file/bot") {
      const found = [...files.values()].find((file) => file.path === decodeURI(segments.join("/")));
      return found ? { bytes: found.bytes, headers: { "Content-Type": "application/octet-stream" } } : { status: 404 };
    }
    const method = methods[segments[0] ?? ""];
    return method ? method(JSON.parse(body || "{}")) : refuse(404, "Not Found");
  };

  const server = await apiServer(handle);

  /** Posts an update to the webhook, as Telegram does; 502 without a server. */
  const deliver = async (update: Fields): Promise<number | null> => {
    if (!webhook) return null;
    const headers: Record<string, string> = { "Content-Type": "application/json" };
    if (webhook.secret !== null) headers["X-Telegram-Bot-Api-Secret-Token"] = webhook.secret;
    const init = { method: "POST", headers, body: JSON.stringify(update) };
    const response = await fetch(webhook.url, init).catch(() => new Response(null, { status: 502 }));
    await response.arrayBuffer();
    lastError = response.ok ? null : `Wrong response from the webhook: ${response.status}`;
    return response.status;
  };

  /** Sends an update; answers the webhook's status, or null when it waits for a poll. */
  const bring = async (update: Fields): Promise<number | null> => {
    const whole = { update_id: nextUpdate++, ...update };
    const status = await deliver(whole);
    if (status !== null && status < 300) return status;
    updates.push(whole);
    if (status === null) poller?.(result([...updates]));
    return status;
  };

  return {
    ...server,
    base: server.url,
    sent,
    actions,
    files,
    /** The updates waiting for a poll, or refused by the webhook. */
    updates,
    bring,
    /** A message to the bot; `more` are other members of the message. */
    say: (text: string, more: Fields = {}) =>
      bring({ message: { message_id: nextMessage++, from: ada, chat: adaChat, date: 1_767_225_600, text, ...more } }),
    /** Sends again the updates that the webhook refused. */
    async redeliver(): Promise<(number | null)[]> {
      const waiting = updates.splice(0);
      return Promise.all(
        waiting.map(async (update) => {
          const status = await deliver(update);
          if (status === null || status >= 300) updates.push(update);
          return status;
        }),
      );
    },
    webhook: () => webhook,
    setLastError(message: string | null) {
      lastError = message;
    },
  };
}

const tag = /<(\/?)([a-z]+)([^<>]*)>|[<>]/g;
const known = new Set(["b", "i", "s", "u", "code", "pre", "a", "blockquote"]);

/** Telegram's reason not to accept a text as HTML; null when it does. */
export function problemOf(html: string): string | null {
  const open: string[] = [];
  for (const [whole, slash, name = ""] of html.matchAll(tag)) {
    if (!known.has(name)) return `Unsupported start tag "${name || whole}"`;
    if (name === "blockquote" && slash === "" && open.includes(name)) return "Nested blockquote";
    if (slash === "") open.push(name);
    else if (open.pop() !== name) return `Unexpected end tag "${name}"`;
  }
  return open.length > 0 ? `Can't find end tag corresponding to start tag "${open.at(-1)}"` : null;
}
