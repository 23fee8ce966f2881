import {
  type Arrival,
  chatOf,
  FileTooLarge,
  type IncomingFile,
  type MessengerAccount,
  MessengerError,
  type Take,
  type TelegramConfig,
  type Unproven,
  type WebhookContent,
  type WebhookHead,
} from "../../../core/channels/messengers.ts";
import { sameText } from "../../../core/ids.ts";
import { pause } from "../../../core/time/pause.ts";
import { integerOf, jsonObject, listOf, objectOf, textOf } from "../fields.ts";
import { messengerHttp } from "../http.ts";
import type { AccountOptions } from "../options.ts";
import { rendered } from "../rendered.ts";
import { checkTelegram, proveTelegram, TelegramError, telegramApi } from "./api.ts";
import { mostBytes } from "./files.ts";
import { allowedUpdates, isAllowed, readUpdate } from "./messages.ts";

/** How long Telegram waits with its response when there are no updates. */
const pollSeconds = 25;

/** The shortest time between polls without updates, in milliseconds, even if the server responds at once. */
const shortestPollMs = 1_000;

const loadMarkup = async () => (await import("./html.ts")).telegramHtml;

/** A bot (https://core.telegram.org/bots/api). A `channelId` is a chat's id, in a topic with `:` and the topic's id. */
export function telegramAccount(
  { botToken, allowedUserIds }: TelegramConfig,
  options: AccountOptions,
): MessengerAccount {
  const { clock, fetch, identities, base, scrub, words } = options;
  const http = messengerHttp({ name: "Telegram", clock, fetch, scrub });
  const api = telegramApi({ http, clock, base, botToken, words });

  const botName = () =>
    identities(`telegram:${botToken}`, async (signal) => {
      const name = textOf(objectOf(await api("getMe", {}, { signal })).username);
      if (name === "") throw new MessengerError("Telegram did not name the bot");
      return name;
    });
  const reader = {
    botId: integerOf(Number(/^(\d{1,15}):/.exec(botToken)?.[1] ?? Number.NaN)),
    botName,
    allowedUserIds,
  };

  const sendText = async (to: Target, text: string, mode: { parse_mode?: "HTML" }, signal: AbortSignal) => {
    const params = { ...to, text, ...mode, link_preview_options: { is_disabled: true } };
    const message = objectOf(await api("sendMessage", params, { signal, isSend: true }));
    return String(integerOf(message.message_id) ?? "");
  };

  /** Sends the Markdown source when Telegram refuses the HTML, or when tags make the HTML too long. */
  const sendMarkdown = async (to: Target, markdown: string, signal: AbortSignal) => {
    const html = await rendered(loadMarkup, markdown);
    if (html === null) return sendText(to, markdown, {}, signal);
    try {
      return await sendText(to, html, { parse_mode: "HTML" }, signal);
    } catch (error) {
      if (!(error instanceof TelegramError) || !isAboutText(error.description)) throw error;
      return sendText(to, markdown, {}, signal);
    }
  };

  /** The first poll returns at once, to show whether Telegram is reachable; later ones wait for updates. */
  const poll = async (offset: number | null, isFirst: boolean, signal: AbortSignal): Promise<JsonUpdate[]> => {
    const params = {
      timeout: isFirst ? 0 : pollSeconds,
      allowed_updates: allowedUpdates,
      ...(offset === null ? {} : { offset }),
    };
    const updates = await api("getUpdates", params, { signal, timeoutMs: (pollSeconds + 10) * 1_000 });
    return listOf(updates).flatMap((update) => {
      const id = integerOf(objectOf(update).update_id);
      return id === null ? [] : { id, update };
    });
  };

  return {
    // Telegram shows the indicator for 5 seconds.
    typingMs: 4_500,

    answers: (channelId) => answersChat(allowedUserIds, channelId),

    refuses,

    async receive(call, now): Promise<WebhookContent> {
      const status = refuses(call);
      if (status !== null) return { kind: "refused", status };
      const update = jsonObject(new TextDecoder().decode(call.body));
      try {
        return { kind: "arrivals", arrivals: await readUpdate(update, reader, now) };
      } catch {
        return { kind: "later" };
      }
    },

    async send(channelId, markdown, signal) {
      return sendMarkdown(targetOf(channelId), markdown, signal);
    },

    async typing(channelId, signal) {
      await api("sendChatAction", { ...targetOf(channelId), action: "typing" }, { signal });
    },

    async download(file: IncomingFile, maxBytes, signal) {
      const most = Math.min(maxBytes, mostBytes);
      if ((file.size ?? 0) > most) throw new FileTooLarge(most);
      const path = textOf(objectOf(await api("getFile", { file_id: file.ref }, { signal })).file_path);
      if (path === "") throw new MessengerError("Telegram did not say where the file is");
      const url = `${base}/file/bot${botToken}/${encodeURI(path)}`;
      return http.download({ url, method: "GET", signal }, most, ({ status, bytes, refusal }) => {
        if (status === 200) return bytes();
        throw refusal();
      });
    },

    async register(wanted, signal) {
      if (wanted === null) return void (await api("deleteWebhook", {}, { signal }));
      const secret = wanted.secret === null ? {} : { secret_token: wanted.secret };
      await api("setWebhook", { url: wanted.url, allowed_updates: allowedUpdates, ...secret }, { signal });
    },

    prove: (signal) => proveTelegram(api, words, signal),
    check: (wanted, signal) => checkTelegram(api, words, wanted, signal),

    async follow(take: Take, signal, onConnected) {
      let offset: number | null = null;
      let failures = 0;
      for (let isFirst = true; ; isFirst = false) {
        const askedAt = clock.now();
        const updates = await poll(offset, isFirst, signal);
        onConnected?.();
        const isNew = updates.some(({ id }) => offset === null || id >= offset);
        const lasted = Math.max(0, clock.now() - askedAt);
        if (!isFirst && !isNew && lasted < shortestPollMs) await pause(clock, shortestPollMs - lasted, signal);
        const arrivals: Arrival[] = [];
        for (const { update } of updates) arrivals.push(...(await readUpdate(update, reader, clock.now())));
        try {
          if (arrivals.length > 0) await take(arrivals);
        } catch {
          failures += 1;
          await pause(clock, Math.min(30_000, 500 * 2 ** failures), signal);
          continue;
        }
        failures = 0;
        // The next poll confirms these updates.
        const last = updates.at(-1);
        if (last) offset = last.id + 1;
      }
    },
  };
}

interface JsonUpdate {
  id: number;
  update: unknown;
}

interface Target {
  chat_id: number | string;
  message_thread_id?: number;
}

/** Telegram sends the secret from the channel's registration, so the head alone proves the request. */
function refuses({ headers, secret }: WebhookHead): Unproven | null {
  const presented = headers.get("X-Telegram-Bot-Api-Secret-Token");
  return secret && presented !== null && sameText(presented, secret) ? null : 401;
}

function targetOf(channelId: string): Target {
  const [chat = "", topic] = channelId.split(":");
  return {
    chat_id: chat.startsWith("@") ? chat : Number(chat),
    ...(topic === undefined ? {} : { message_thread_id: Number(topic) }),
  };
}

/**
 * Whether the agent answers a chat. A private chat has the id of its person. A group or channel has a negative id, or a
 * name after @; its own administrators decide about its members.
 */
function answersChat(allowedUserIds: readonly string[], channelId: string): boolean {
  return /^[-@]/.test(channelId) || isAllowed(allowedUserIds, chatOf(channelId));
}

const isAboutText = (description: string) =>
  /can't parse entities|message is too long|text is empty/i.test(description);
