import { createInterface } from "node:readline/promises";
import type { Environment } from "../../core/config.ts";
import { scrubber } from "../../core/scrub/scrub.ts";
import { printable } from "../chat/show.ts";
import type { Streams } from "../chat.ts";
import type { FileSet } from "../files/read-set.ts";
import { isOpen } from "../files/references.ts";
import type { ApplyOptions } from "./options.ts";
import { coloured, type Paint, plain } from "./show.ts";

/** What `apply` says and asks. */
export interface Talk {
  /** For what was asked for: the plan, what was done. */
  say(line: string): void;
  /** For problems and warnings. */
  note(line: string): void;
  paint: Paint;
  /** Asks a person; null where nobody can answer. */
  ask: ((question: string) => Promise<string>) | null;
}

/** Lines go through a scrubber of all values that the files refer to. */
export function talkOf(
  { agents }: FileSet,
  { json, server }: ApplyOptions,
  { environment, streams }: { environment: Environment; streams: Streams },
): Talk {
  const { input, output, notes } = streams;
  const values = agents.flatMap(({ references }) =>
    references.filter((one) => !isOpen(one)).map(({ variable }) => environment[variable] ?? ""),
  );
  const scrub = scrubber([...values, server?.key ?? ""]);
  const isTerminal = output.isTTY === true && !json;
  return {
    say: (line) => void output.write(`${scrub(line)}\n`),
    note: (line) => void notes.write(`${scrub(printable(line))}\n`),
    paint: isTerminal && !environment.NO_COLOR ? coloured : plain,
    ask: input.isTTY && isTerminal ? (question) => askPerson(question, streams) : null,
  };
}

async function askPerson(question: string, { input, output }: Streams): Promise<string> {
  const lines = createInterface({ input, output });
  try {
    // Ctrl+D ends the input without an answer.
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return await Promise.race([lines.question(printable(question)), ended]);
  } finally {
    lines.close();
  }
}
