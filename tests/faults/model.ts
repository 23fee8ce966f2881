import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { done, say } from "../fake-provider.ts";
import { atEnd } from "../runtime/program.ts";

interface Call {
  stream?: boolean;
  messages: { role: string; content: string | { text?: string }[] }[];
}

/** The reply to a message of the load. */
export const replyTo = (text: string) => `The answer to ${text} is known.`;

/** Between two words of a reply, in milliseconds. */
const wordMs = 40;

/** The base URL of a chat-completions server, which answers each message of the load word by word. */
export async function startModel(): Promise<string> {
  const server = createServer(async (request, response) => {
    const { messages, stream } = (await json(request)) as Call;
    const text = answerTo(textOf(messages.findLast(({ role }) => role === "user")?.content ?? ""));
    const words = text.match(/\S+\s*/g) ?? [];
    if (!stream) {
      await sleep(words.length * wordMs);
      const choices = [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }];
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      return void response.end(
        JSON.stringify({ id: "1", object: "chat.completion", created: 1, model: "m", choices, usage }),
      );
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    for (const piece of say(...words)) {
      if (response.destroyed) return;
      response.write(piece);
      await sleep(wordMs);
    }
    response.end(done("stop", { input: 10, output: 5 }).join(""));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The model has no port");
  return `http://127.0.0.1:${address.port}/v1`;
}

function answerTo(prompt: string): string {
  if (prompt.endsWith("yes or no")) return "yes";
  if (prompt.includes('"title"')) return JSON.stringify({ title: "A talk", summary: "They talked.", facts: [] });
  return replyTo(prompt);
}

const textOf = (content: Call["messages"][number]["content"]) =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("");
