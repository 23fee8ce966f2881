import type { ReplyShape } from "./shapes.ts";

export interface Target {
  url: string;
  door: Door;
}

export interface Question {
  shape: ReplyShape;
  chatId: string;
  streamed: boolean;
}

/** How a server is called, and which text shows that its reply is complete. */
export interface Door {
  path(question: Question): string;
  body(question: Question): object;
  headers?(question: Question): Record<string, string>;
  /** Precedes each token once. */
  mark: string;
  /** A text in the last 500 characters of a streamed reply. */
  ending: string;
}

const content = "What is the capital of Switzerland, and why?";
const messages = [{ role: "user", content }];

/** One key opens one agent of the engine. Other servers ignore it. */
export const keyOf = (slug: string) => `bench-key-of-${slug}`;

/** Of the engine, the floors and the model server. */
export const completions: Door = {
  path: () => "/v1/chat/completions",
  body: ({ shape, chatId, streamed }) => ({ model: shape, stream: streamed, chat_id: chatId, messages }),
  headers: ({ shape }) => ({ Authorization: `Bearer ${keyOf(shape)}` }),
  mark: "token ",
  ending: "[DONE]",
};
