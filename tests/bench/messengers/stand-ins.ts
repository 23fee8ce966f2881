import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { slackServer } from "../../messengers/slack-server.ts";
import { telegramServer } from "../../messengers/telegram-server.ts";

/** What people write, and what answers it, is known by marks, such as `m12x3` for the third message in chat 12. */
export const markOf = (chat: number, message: number) => `m${chat}x${message}`;
export const marksIn = (text: string) => text.match(/\bm\d+x\d+\b/g) ?? [];

/** A model that says which messages it was asked to answer: at once, or once it is let go. */
interface EchoingModel {
  url: string;
  /** Calls that wait. */
  held: () => number;
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

interface Asked {
  model: string;
  stream?: boolean;
  messages: { role: string; content: unknown }[];
}

async function echoingModel(): Promise<EchoingModel> {
  let holding = false;
  let waiting: (() => void)[] = [];
  const server = createServer((incoming, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    incoming.on("end", () => {
      const answer = () => echo(JSON.parse(text) as Asked, response);
      if (!holding) return answer();
      waiting.push(answer);
      response.once("close", () => {
        waiting = waiting.filter((one) => one !== answer);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The server has no port");
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    held: () => waiting.length,
    hold() {
      holding = true;
    },
    release() {
      holding = false;
      for (const answer of waiting.splice(0)) answer();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function echo({ model, stream, messages }: Asked, response: ServerResponse): void {
  const fresh = messages.slice(messages.findLastIndex(({ role }) => role === "assistant") + 1);
  const content = marksIn(JSON.stringify(fresh.filter(({ role }) => role === "user"))).join(" ") || "{}";
  const head = { id: "chatcmpl-bench", created: 1_700_000_000, model };
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  if (!stream) {
    const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage }));
    return;
  }
  const event = (fields: object) =>
    `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...fields })}\n\n`;
  const said = event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  const ended = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.end(`${said}${ended}${event({ choices: [], usage })}data: [DONE]\n\n`);
}

/** The messengers' sides of a bench. */
export interface World {
  model: EchoingModel;
  telegram: Awaited<ReturnType<typeof telegramServer>>;
  slack: Awaited<ReturnType<typeof slackServer>>;
  /** What the engine is told of them. */
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

/** What was sent to each chat, in order. */
export function repliesTo({ telegram, slack }: World): Map<number, string[]> {
  const overTelegram = telegram.sent.map(({ chatId, text }) => ({ chat: chatId, text }));
  const overSlack = slack.sent.map(({ channel, text }) => ({ chat: Number(channel.slice(1)), text }));
  const byChat = Map.groupBy([...overTelegram, ...overSlack], ({ chat }) => chat);
  return new Map([...byChat].map(([chat, sent]) => [chat, sent.map(({ text }) => text)]));
}
