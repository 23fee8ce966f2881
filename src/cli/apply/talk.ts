import type { Environment } from "../../core/config.ts";
import { scrubber } from "../../core/scrub/scrub.ts";
import { askPerson } from "../ask-person.ts";
import { printable } from "../chat/show.ts";
import type { Streams } from "../chat.ts";
import type { FileSet } from "../files/read-set.ts";
import { isOpen } from "../files/references.ts";
import type { ApplyOptions } from "./options.ts";
import { coloured, type Paint, plain } from "./show.ts";

/** The output and questions of `apply`. */
export interface ApplyOutput {
  /** Prints results: the plan and the finished steps. */
  say(line: string): void;
  /** Prints problems and warnings. */
  note(line: string): void;
  paint: Paint;
  /** Asks a person; null when there is nobody to ask. */
  ask: ((question: string) => Promise<string>) | null;
}

/** Removes from all lines the values to which the files refer. */
export function talkOf(
  { agents }: FileSet,
  { json, server }: ApplyOptions,
  { environment, streams }: { environment: Environment; streams: Streams },
): ApplyOutput {
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
