import { MessengerError, type WhatsAppConfig } from "../../../core/channels/messengers.ts";
import { toBase64 } from "../../../core/ids.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Clock } from "../../../core/ports.ts";
import { integerOf, jsonObject } from "../fields.ts";
import { type Http, isPermanent, retryAfterMs } from "../http.ts";
import type { ShownText } from "../options.ts";

interface RequestOptions {
  signal: AbortSignal;
  /** The parameters of a POST; absent for a GET. */
  form?: Readonly<Record<string, string>>;
}

/** Calls a resource of the account (https://www.twilio.com/docs/usage/api); returns the response. */
export type TwilioApi = (resource: string, asked: RequestOptions) => Promise<JsonObject>;

/** The account's `Authorization` header. */
export function twilioAuthorization({ accountSid, credentials }: WhatsAppConfig): string {
  const pair =
    credentials.mode === "auth_token"
      ? `${accountSid}:${credentials.authToken}`
      : `${credentials.apiKeySid}:${credentials.apiKeySecret}`;
  return `Basic ${toBase64(new TextEncoder().encode(pair))}`;
}

interface Options {
  http: Http;
  clock: Clock;
  base: string;
  config: WhatsAppConfig;
  words: ShownText;
}

export function twilioApi({ http, clock, base, config, words }: Options): TwilioApi {
  return async (resource, { signal, form }) => {
    const isSend = form !== undefined;
    const { status, headers, text } = await http.ask({
      url: `${base}/2010-04-01/Accounts/${config.accountSid}${resource}`,
      method: isSend ? "POST" : "GET",
      headers: {
        Authorization: twilioAuthorization(config),
        ...(isSend ? { "Content-Type": "application/x-www-form-urlencoded; charset=utf-8" } : {}),
      },
      ...(isSend ? { body: new URLSearchParams(form).toString() } : {}),
      signal,
      isSend,
    });
    const answer = jsonObject(text);
    if (status >= 200 && status < 300 && answer !== null) return answer;
    if (status >= 200 && status < 300) {
      throw new MessengerError("Twilio's answer is not what its API answers", { mayBeDone: isSend });
    }
    const code = integerOf(answer?.code);
    throw new MessengerError(knownSentence(status, code) ?? refused([status, code], await words(answer?.message)), {
      isPermanent: isPermanent(status) && !passing.has(code ?? 0),
      retryAfterMs: retryAfterMs(headers, clock.now()),
      isOfAccount: status === 401 || code === 20404,
    });
  };
}

/**
 * Codes for too many requests of the account or the sender, and for a full queue
 * (https://www.twilio.com/docs/api/errors).
 */
const passing = new Set([20429, 14107, 63018, 21611, 30001]);

const number = "WhatsApp does not know this number";

const sentences: Readonly<Record<number, string>> = {
  20003: "Twilio does not take the credentials: copy the account SID and the token or key again",
  20404: "Twilio does not know this account: copy the account SID again",
  21211: number,
  21614: number,
  21610: "The person has opted out of messages from this number",
  21617: "The message is too long for WhatsApp",
  63003: number,
  70051: "The Twilio API key lacks a right: let it create and read messages, or use a standard key",
  63007: "Twilio has no WhatsApp sender with this number: check the number in Twilio's console",
  63015: "The person has not joined Twilio's WhatsApp sandbox",
  63016: "The person last wrote more than 24 hours ago: WhatsApp then takes approved templates only",
  63018: "WhatsApp asks to send less often",
  63024: number,
};

function knownSentence(status: number, code: number | null): string | null {
  const known = code === null ? undefined : sentences[code];
  if (known) return `${known} (Twilio ${code})`;
  if (status === 401) return sentences[20003] ?? "";
  if (status === 429) return "Twilio asks to send less often";
  return null;
}

const refused = (codes: readonly (number | null)[], words: string) =>
  `Twilio refused the call (${codes.filter(Boolean).join(", ")})${words === "" ? "" : `: ${words}`}`;
