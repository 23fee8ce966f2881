import { MessengerError } from "../../../core/channels/messengers.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Clock } from "../../../core/ports.ts";
import { jsonObject, textOf } from "../fields.ts";
import { type Http, isPermanent, retryAfterMs } from "../http.ts";
import type { ShownText } from "../options.ts";

interface RequestOptions {
  signal: AbortSignal;
  isSend?: boolean;
}

/** Calls a method of the Web API (https://docs.slack.dev/apis/web-api) with a token; returns the response. */
export type SlackApi = (
  method: string,
  token: string,
  params: Readonly<Record<string, string>>,
  asked: RequestOptions,
) => Promise<JsonObject>;

interface Options {
  http: Http;
  clock: Clock;
  base: string;
  words: ShownText;
}

export function slackApi({ http, clock, base, words }: Options): SlackApi {
  return async (method, token, params, asked) => {
    const { status, headers, text } = await http.ask({
      url: `${base}/${method}`,
      method: "POST",
      headers: {
        Authorization: `Bearer ${token}`,
        "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
      },
      body: new URLSearchParams(params).toString(),
      ...asked,
    });
    const answer = jsonObject(text);
    if (answer?.ok === true) return answer;
    const code = textOf(answer?.error);
    if (code === "") {
      const done = status === 200 && asked.isSend === true;
      throw new MessengerError(status === 429 ? slower : `Slack answered ${method} with ${status}`, {
        isPermanent: status !== 200 && isPermanent(status),
        retryAfterMs: retryAfterMs(headers, clock.now()),
        mayBeDone: done,
      });
    }
    throw new MessengerError(knownSentence(code) ?? (await refusal(method, answer, words)), {
      isPermanent: !passing.has(code) && status !== 429 && status < 500,
      retryAfterMs: retryAfterMs(headers, clock.now()),
      // Slack's documentation says that such a call may have been done in part.
      mayBeDone: asked.isSend === true && (code === "fatal_error" || code === "internal_error"),
      isOfAccount: sentences[code] === token,
    });
  };
}

const slower = "Slack asks to send less often";

/** Errors after which a repeated call may succeed. */
const passing = new Set([
  ...["ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"],
  ...["team_added_to_org", "accesslimited"],
]);

const token = "Slack does not take the token: install the app again and copy its token";

const sentences: Readonly<Record<string, string>> = {
  ratelimited: slower,
  rate_limited: slower,
  invalid_auth: token,
  not_authed: token,
  account_inactive: token,
  token_revoked: token,
  token_expired: token,
  not_allowed_token_type: "This is another kind of Slack token than is needed here",
  channel_not_found: "The bot does not see this Slack channel: invite it to the channel",
  not_in_channel: "The bot is not in this Slack channel: invite it to the channel",
  is_archived: "This Slack channel is archived",
  msg_too_long: "The message is too long for Slack",
  restricted_action: "The workspace does not let the bot post here",
};

const knownSentence = (code: string) => (Object.hasOwn(sentences, code) ? `${sentences[code]} (${code})` : null);

async function refusal(method: string, answer: JsonObject | null, words: ShownText): Promise<string> {
  if (answer?.error !== "missing_scope") return `Slack refused ${method}: ${await words(answer?.error)}`;
  return `The Slack app lacks the scope ${await words(answer.needed)}: add it and install the app again`;
}
