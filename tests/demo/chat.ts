import type { Writable } from "node:stream";

/** The time limit of a reply. */
const longestMs = 15_000;

/** A chat as people see it: each line with the seconds since the beginning. */
export class Chat {
  readonly #startedAt = performance.now();
  readonly #out: Writable;

  constructor(out: Writable) {
    this.#out = out;
  }

  title(text: string): void {
    this.#out.write(`\n${text}\n`);
  }

  /** A line of a person; further lines of the text are below it. */
  line(who: string, text: string): void {
    const seconds = ((performance.now() - this.#startedAt) / 1_000).toFixed(1);
    const [first = "", ...rest] = text.split("\n");
    const lines = [`${seconds.padStart(6)} s  ${who.padEnd(7)} ${first}`, ...rest.map((line) => " ".repeat(17) + line)];
    this.#out.write(`${lines.map((line) => line.trimEnd()).join("\n")}\n`);
  }

  /** Shows the agent's next messages: the texts after the first `shown` of the growing list `sent`. */
  async reply(sent: readonly unknown[], textOf: (index: number) => string): Promise<void> {
    const index = this.#shown.get(sent) ?? 0;
    const until = performance.now() + longestMs;
    while (sent.length <= index) {
      if (performance.now() > until) throw new Error("The agent did not answer");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    this.#shown.set(sent, index + 1);
    this.line("Agent", textOf(index));
  }

  readonly #shown = new Map<readonly unknown[], number>();
}
