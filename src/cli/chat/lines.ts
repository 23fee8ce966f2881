import { createInterface } from "node:readline";
import { Writable } from "node:stream";

/** In milliseconds: lines that arrive this quickly, as in a paste, form one message. */
const pasteMs = 20;

interface Streams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream & { columns?: number };
}

/** A person's typed lines. Text typed between two questions is hidden until the next question. */
export interface Lines {
  /** Reads the next message; null when the person leaves. */
  message(): Promise<string | null>;
  /** Reads a line that is neither shown nor added to the history; null when the person leaves. */
  secret(question: string): Promise<string | null>;
  /** Sets what the next Ctrl+C does. Without this it leaves the chat. */
  onInterrupt(interrupt: (() => void) | null): void;
  /** Whether Ctrl+C ended the conversation. */
  interrupted(): boolean;
  close(): void;
}

/** Controls a terminal until `close`. */
export function openLines({ input, output }: Streams, prompt: string): Lines {
  let shown = false;
  let secret = false;
  let left = false;
  let interrupted = false;
  let interrupt: (() => void) | null = null;
  let waiting: ((line: string | null) => void) | null = null;
  let gathering: NodeJS.Timeout | undefined;
  const typed: string[] = [];

  const screen = Object.defineProperty(
    new Writable({
      write(text, _encoding, done) {
        if (shown) output.write(text);
        done();
      },
    }),
    "columns",
    { get: () => output.columns },
  );
  const terminal = createInterface({ input, output: screen, terminal: true, prompt });

  const answer = (line: string | null) => {
    shown = false;
    secret = false;
    const resolve = waiting;
    waiting = null;
    resolve?.(line);
  };
  const deliver = () => {
    gathering = undefined;
    if (waiting && !secret && typed.length > 0) answer(typed.splice(0).join("\n"));
  };
  const gather = () => {
    gathering ??= setTimeout(deliver, pasteMs);
  };
  const onSignal = () => {
    const act = interrupt;
    interrupt = null;
    if (act) return act();
    interrupted = true;
    terminal.close();
  };

  terminal.on("line", (line) => {
    if (secret) {
      output.write("\n");
      return answer(line);
    }
    typed.push(line);
    gather();
  });
  terminal.on("history", (history) => {
    if (secret) history.shift();
  });
  terminal.on("SIGINT", onSignal);
  terminal.on("close", () => {
    left = true;
    if (waiting) output.write("\n");
    answer(null);
  });
  process.on("SIGINT", onSignal);

  const ask = (): Promise<string | null> => {
    if (left) return Promise.resolve(null);
    return new Promise((resolve) => {
      waiting = resolve;
    });
  };
  return {
    message() {
      const asked = ask();
      if (left) return asked;
      shown = true;
      terminal.prompt(true);
      if (typed.length > 0) gather();
      return asked;
    },
    secret(question) {
      const asked = ask();
      if (left) return asked;
      secret = true;
      output.write(question);
      return asked;
    },
    onInterrupt(next) {
      interrupt = next;
    },
    interrupted: () => interrupted,
    close() {
      clearTimeout(gathering);
      process.off("SIGINT", onSignal);
      terminal.close();
    },
  };
}
