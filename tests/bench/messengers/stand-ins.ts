import { randomBytes } from "node:crypto";
import { slackServer } from "../../messengers/slack-server.ts";
import { telegramServer } from "../../messengers/telegram-server.ts";
import { type StandInModel, standInModel } from "../stand-in-model.ts";

/** Messages and their answers contain marks, such as `m12x3` for the third message in chat 12. */
export const markOf = (chat: number, message: number) => `m${chat}x${message}`;
export const marksIn = (text: string) => text.match(/\bm\d+x\d+\b/g) ?? [];

/** A model that names the messages it was asked to answer. */
const echoingModel = () =>
  standInModel(({ messages }) => {
    const fresh = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
    return marksIn(JSON.stringify(fresh.filter(({ role }) => role === "user"))).join(" ") || "{}";
  });

/** The messengers' sides of a bench. */
export interface World {
  model: StandInModel;
  telegram: Awaited<ReturnType<typeof telegramServer>>;
  slack: Awaited<ReturnType<typeof slackServer>>;
  /** The engine's settings for them. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const [model, telegram, slack] = await Promise.all([echoingModel(), telegramServer(), slackServer()]);
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.url,
    TELEGRAM_API_BASE_URL: telegram.base,
    SLACK_API_BASE_URL: slack.base,
    ENCRYPTION_KEY: randomBytes(32).toString("hex"),
  };
  const close = async () => void (await Promise.all([model.close(), telegram.close(), slack.close()]));
  return { model, telegram, slack, env, close };
}

/** The replies sent to each chat, in order. */
export function repliesTo({ telegram, slack }: World): Map<number, string[]> {
  const overTelegram = telegram.sent.map(({ chatId, text }) => ({ chat: chatId, text }));
  const overSlack = slack.sent.map(({ channel, text }) => ({ chat: Number(channel.slice(1)), text }));
  const byChat = Map.groupBy([...overTelegram, ...overSlack], ({ chat }) => chat);
  return new Map([...byChat].map(([chat, sent]) => [chat, sent.map(({ text }) => text)]));
}
