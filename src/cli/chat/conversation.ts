import type { Lines } from "./lines.ts";
import { checkKey } from "./options.ts";
import { Refusal } from "./refusal.ts";
import { printable, type Show } from "./show.ts";

export interface ChatTalk {
  /** Sends a message and shows its reply as it arrives. */
  say(text: string, key: string | undefined, signal: AbortSignal): Promise<void>;
  /** Begins another chat with the next message. */
  renew(): void;
  key: string | undefined;
  slug: string;
  show: Show;
  notes: { write(text: string): unknown };
}

/** How often a person may correct a wrong key. */
const keyTries = 3;

/**
 * Reads messages and shows replies until the person leaves. Throws a `Refusal` that every further message would get.
 */
export async function converse(lines: Lines, talk: ChatTalk): Promise<void> {
  let key = talk.key;
  let tries = 0;
  for (let line = await lines.message(); line !== null; line = await lines.message()) {
    const asked = readLine(line);
    if (asked.kind === "exit") return;
    if (asked.kind === "new") {
      talk.renew();
      talk.notes.write("Another chat begins.\n");
    }
    if (asked.kind === "note") talk.notes.write(`${printable(asked.text)}\n`);
    while (asked.kind === "message" && asked.text.trim() !== "") {
      const refusal = await sayOnce(lines, talk, asked.text, key);
      if (!refusal) break;
      if (refusal.status === 404) throw refusal;
      talk.notes.write(`${refusal.message}\n`);
      if (refusal.status !== 401) break;
      tries += 1;
      if (tries > keyTries) throw refusal;
      const given = await lines.secret(`Key of ${talk.slug} (not shown): `);
      if (given === null) return;
      key = given.trim() || undefined;
      if (key !== undefined) checkKey(key);
    }
  }
}

/** Sends one message and returns its `Refusal`; null when it got a reply or was interrupted. */
async function sayOnce(lines: Lines, { say, show, notes }: ChatTalk, text: string, key: string | undefined) {
  const stop = new AbortController();
  lines.onInterrupt(() => stop.abort());
  try {
    await say(text, key, stop.signal);
    return null;
  } catch (error) {
    // Ends the reply's line before an error message.
    show.end();
    if (error instanceof Refusal) return error;
    if (!stop.signal.aborted) throw error;
    notes.write("Interrupted.\n");
    return null;
  } finally {
    lines.onInterrupt(null);
  }
}

/** A line at the prompt, once parsed. */
type PromptLine =
  | { kind: "message"; text: string }
  | { kind: "new" | "exit" }
  /** A text to show before the next prompt. */
  | { kind: "note"; text: string };

const help = `/new   begins another chat
/exit  leaves, as Ctrl+D does
/help  shows this
A message that begins with a slash has two: //etc is sent as /etc.`;

/** Parses what was typed. Only a single line can be a command: pasted lines are always a message. */
function readLine(text: string): PromptLine {
  if (!text.startsWith("/") || text.includes("\n")) return { kind: "message", text };
  if (text.startsWith("//")) return { kind: "message", text: text.slice(1) };
  const [name = ""] = text.trim().split(/\s/);
  if (name === "/new") return { kind: "new" };
  if (name === "/exit") return { kind: "exit" };
  if (name === "/help") return { kind: "note", text: help };
  return { kind: "note", text: `There is no ${name}; there are /help, /new and /exit. To send it, type /${name}` };
}
