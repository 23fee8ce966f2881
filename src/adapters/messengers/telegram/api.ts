import { type ChannelCheck, MessengerError, type WantedWebhook } from "../../../core/channels/messengers.ts";
import type { Clock } from "../../../core/ports.ts";
import { integerOf, jsonObject, objectOf, textOf } from "../fields.ts";
import { type Http, isPermanent, retryAfterMs } from "../http.ts";
import type { ShownText } from "../options.ts";

/** A refusal of the Bot API. */
export class TelegramError extends MessengerError {
  /** Telegram's own error text. */
  readonly description: string;

  constructor(message: string, traits: ConstructorParameters<typeof MessengerError>[1] & { description: string }) {
    super(message, traits);
    this.description = traits.description;
  }
}

interface RequestOptions {
  signal: AbortSignal;
  timeoutMs?: number;
  isSend?: boolean;
}

/** Calls a method of the Bot API (https://core.telegram.org/bots/api#making-requests); returns its `result`. */
export type TelegramApi = (method: string, params: Record<string, unknown>, asked: RequestOptions) => Promise<unknown>;

interface Options {
  http: Http;
  clock: Clock;
  base: string;
  botToken: string;
  words: ShownText;
}

export function telegramApi({ http, clock, base, botToken, words }: Options): TelegramApi {
  return async (method, params, asked) => {
    const { status, headers, text } = await http.ask({
      url: `${base}/bot${botToken}/${method}`,
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(params),
      ...asked,
    });
    const answer = jsonObject(text);
    if (answer?.ok === true) return answer.result;
    if (status === 200) {
      throw new MessengerError("Telegram's answer is not what its API answers", { mayBeDone: asked.isSend === true });
    }
    const parameters = objectOf(answer?.parameters);
    const seconds = integerOf(parameters.retry_after);
    const movedTo = integerOf(parameters.migrate_to_chat_id);
    const description = textOf(answer?.description);
    throw new TelegramError(knownSentence(status, description) ?? refused(method, status, await words(description)), {
      description,
      movedTo: movedTo === null ? null : String(movedTo),
      isPermanent: isPermanent(status) && !isOtherPoller(answer?.description),
      retryAfterMs: seconds === null ? retryAfterMs(headers, clock.now()) : seconds * 1_000,
      isOfAccount: isOfToken(status, description),
    });
  };
}

/** Whether another process polls with the same token, perhaps one of this installation that is stopping. */
const isOtherPoller = (description: unknown) => textOf(description).includes("terminated by other getUpdates");

const isOfToken = (status: number, description: string) =>
  status === 401 || (status === 404 && description === "Not Found");

function knownSentence(status: number, description: string): string | null {
  if (isOfToken(status, description)) {
    return "Telegram does not know the bot token: copy it from @BotFather again";
  }
  if (isOtherPoller(description)) {
    return "Another program asks Telegram for the messages of this bot: stop it, or use another bot";
  }
  if (status === 409) return "Telegram still calls a webhook for this bot, so it cannot be polled";
  if (status === 429) return "Telegram asks to send less often";
  return null;
}

const refused = (method: string, status: number, words: string) =>
  `Telegram refused ${method} (${status})${words === "" ? "" : `: ${words}`}`;

/** Checks the bot's token with `getMe`. */
export async function proveTelegram(api: TelegramApi, words: ShownText, signal: AbortSignal): Promise<ChannelCheck> {
  const bot = objectOf(await api("getMe", {}, { signal }));
  return { name: "credentials", ok: true, message: `The bot is @${await words(bot.username)}` };
}

/** Checks the bot's token, the webhook's address at Telegram, and whether Telegram reaches it (decisions §8). */
export async function checkTelegram(
  api: TelegramApi,
  words: ShownText,
  wanted: WantedWebhook | null,
  signal: AbortSignal,
): Promise<ChannelCheck[]> {
  try {
    const credentials = await proveTelegram(api, words, signal);
    const info = objectOf(await api("getWebhookInfo", {}, { signal }));
    return [
      credentials,
      webhookCheck(textOf(info.url), wanted),
      reachableCheck(info, await words(info.last_error_message), wanted),
    ];
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    return [{ name: "credentials", ok: false, message: error.message }];
  }
}

/** Advice to restart the channel: each save of an enabled channel does so. */
const again = "save the channel again, by PUT …/channels/telegram with {}";

function webhookCheck(url: string, wanted: WantedWebhook | null): ChannelCheck {
  const name = "webhook";
  if (wanted === null) {
    return url === ""
      ? { name, ok: true, message: "Telegram calls no webhook; messages are polled" }
      : { name, ok: false, message: `Telegram calls a webhook although messages are polled: ${again}` };
  }
  if (url === wanted.url) return { name, ok: true, message: `Telegram calls ${wanted.url}` };
  const now = url === "" ? "calls no webhook" : "calls another address";
  return { name, ok: false, message: `Telegram ${now} instead of ${wanted.url}: ${again}` };
}

function reachableCheck(info: Record<string, unknown>, failure: string, wanted: WantedWebhook | null): ChannelCheck {
  const name = "reachable";
  const pending = integerOf(info.pending_update_count) ?? 0;
  const waiting = pending === 0 ? "No message waits" : `${pending} waiting at Telegram`;
  if (wanted === null || failure === "") return { name, ok: true, message: waiting };
  // Telegram keeps reporting an error after a later delivery succeeded; no update is pending then.
  return { name, ok: pending === 0, message: `${waiting}; its last error was: ${failure}` };
}
