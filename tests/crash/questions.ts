import { finish, type ScriptStep, scriptedModel, text, toolCall } from "../scripted-model.ts";

// The questions of a process to its agent until it is killed, and what later processes know about them.

/** A question, numbered in its conversation from 1. Its name is its text, its request's key and a key of the state. */
export interface Question {
  chat: string;
  number: number;
}

export const nameOf = ({ chat, number }: Question) => `${chat}.${number}`;

/** The agent's answer to a question. */
export const answerTo = (name: string) => `Let me see. ${name} is answered.`;

/** Tokens of both calls. */
export const tokens = { prompt: 30, completion: 12 };

/** The request; the same one each time, so that it may be repeated. */
export function requestOf(question: Question, { slug, key }: { slug: string; key: string }): [string, RequestInit] {
  const messages = [{ role: "user", content: nameOf(question) }];
  const even = question.number % 2 === 0;
  const path = even ? "/v1/chat/completions" : `/api/instances/${slug}/chat/stream`;
  const headers = {
    Authorization: `Bearer ${key}`,
    "Content-Type": "application/json",
    "Idempotency-Key": nameOf(question),
    // Each from an address of its own, because of the throttle.
    "X-Forwarded-For": `2001:db8:${hex(nameOf(question))}::1`,
  };
  const body = JSON.stringify({ model: slug, chat_id: question.chat, messages, stream: even });
  return [path, { method: "POST", headers, body }];
}

const hex = (name: string) =>
  Buffer.from(name)
    .toString("hex")
    .padStart(8, "0")
    .slice(-8)
    .replace(/(....)$/, ":$1");

/** Whether a reply, of either endpoint, is complete. */
export function isWhole(reply: string): boolean {
  return reply.includes("answered.") && !/^event: error|"error":/m.test(reply) && /\[DONE\]|event: done/.test(reply);
}

/** A model that stores each question in the state, and then answers it. `rest` runs in the middle of its reply. */
export function answeringModel(rest: (place: "streaming" | "answering") => Promise<unknown> = async () => {}) {
  return scriptedModel(({ prompt }): ScriptStep => {
    const asked = prompt.findLast(({ role }) => role === "user");
    const part = Array.isArray(asked?.content) ? asked.content[0] : undefined;
    const name = part?.type === "text" ? part.text : "";
    if (prompt.at(-1)?.role === "tool") {
      const words = [text("answered."), finish("stop", { input: 20, output: 7 })];
      return { parts: [text(`${name} `), text("is "), rest("answering"), ...words] };
    }
    const call = toolCall(`call-${name}`, "setState", { key: name, value: true });
    const first = [call, finish("tool-calls", { input: 10, output: 5 })];
    return { parts: [text("Let me "), rest("streaming"), text("see. "), ...first] };
  });
}
