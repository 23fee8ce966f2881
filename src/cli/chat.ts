import { text as readAll } from "node:stream/consumers";
import { messageIdOf } from "../client/index.ts";
import type { Environment } from "../core/config.ts";
import { type Flags, UsageError } from "./arguments.ts";
import { type ChatTalk, converse } from "./chat/conversation.ts";
import { openLines } from "./chat/lines.ts";
import { chatsFile, newChatId, recallChat, rememberChat } from "./chat/memory.ts";
import { type ChatOptions, readChatOptions } from "./chat/options.ts";
import { sendMessage, stopTurn } from "./chat/send.ts";
import { type Screen, type Show, showJson, showReply } from "./chat/show.ts";

/** The exit code of a command that was ended by Ctrl+C. */
const interruptedCode = 130;

/** The streams of a chat: the process's own, or a test's. */
export interface Streams {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & Screen;
  notes: NodeJS.WritableStream & Screen;
}

/**
 * Chats with an agent: message by message with a person at a terminal; otherwise with standard input as the only
 * message. Returns the exit code; rejects with a `Refusal` or a `UsageError`.
 */
export async function chat(slug: string, flags: Flags, environment: Environment, streams: Streams): Promise<number> {
  const options = readChatOptions(slug, flags, environment);
  const { output, notes } = streams;
  const colours = notes.isTTY === true && !environment.NO_COLOR;
  const show = options.json ? showJson(output, notes) : showReply({ output, notes, colours });
  const speaker = speakerOf(options, show, { environment, notes });
  return streams.input.isTTY ? talk(options, show, speaker, streams) : sayOnce(options, speaker, streams);
}

type Speaker = Pick<ChatTalk, "say" | "renew">;

interface Surroundings {
  environment: Environment;
  notes: Screen;
}

/** Sends one message at a time. Stores the id of the chat when the server has accepted a message. */
function speakerOf(options: ChatOptions, show: Show, { environment, notes }: Surroundings): Speaker {
  const file = chatsFile(environment);
  const recalled = options.fresh ? null : recallChat(file, options);
  let chatId = recalled ?? newChatId();
  let remembered = recalled !== null;
  const remember = () => {
    if (remembered) return;
    remembered = true;
    try {
      rememberChat(file, options, chatId);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
      notes.write(`This chat can't be remembered (${code}): ${file}\n`);
    }
  };
  const renew = () => {
    chatId = newChatId();
    remembered = false;
  };
  const say: Speaker["say"] = async (text, key, signal) => {
    const message = { ...options, key, chatId, text };
    const onLost = sayLostOnce(show);
    let turn: string | null = null;
    try {
      for await (const event of sendMessage(message, signal, onLost)) {
        remember();
        turn = messageIdOf({ id: event.id ?? "" }) ?? turn;
        show.event(event);
      }
    } catch (error) {
      // Before the first event, closing the connection stops the turn.
      const runsOn = signal.aborted && turn !== null && !(await stopTurn(message, turn));
      if (runsOn) show.note("The server could not be told to stop: it may complete the reply");
      throw error;
    }
    show.end();
  };
  return { say, renew };
}

function sayLostOnce(show: Show): () => void {
  let said = false;
  return () => {
    if (!said) show.note("Connection lost, going on…");
    said = true;
  };
}

async function talk(
  { slug, url, key, json }: ChatOptions,
  show: Show,
  speaker: Speaker,
  streams: Streams,
): Promise<number> {
  const { input, notes } = streams;
  // In a pipe, standard output gets only replies.
  const output = streams.output.isTTY && !json ? streams.output : notes;
  notes.write(`${slug} at ${url}. Ctrl+C stops a reply, Ctrl+D leaves, /help says more.\n`);
  const lines = openLines({ input, output }, "> ");
  try {
    await converse(lines, { ...speaker, key, slug, show, notes });
    return lines.interrupted() ? interruptedCode : 0;
  } finally {
    lines.close();
  }
}

async function sayOnce({ key }: ChatOptions, { say }: Speaker, { input, notes }: Streams): Promise<number> {
  const text = (await readAll(input)).replace(/\r?\n$/, "");
  if (text.trim() === "") throw new UsageError("Standard input is empty: write a message into it");
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal);
  try {
    await say(text, key, stop.signal);
    return 0;
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    notes.write("\nInterrupted.\n");
    return interruptedCode;
  } finally {
    process.off("SIGINT", onSignal);
  }
}
