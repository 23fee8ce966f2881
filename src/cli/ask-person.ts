import { createInterface } from "node:readline/promises";
import { printable } from "./chat/show.ts";
import type { Streams } from "./chat.ts";

/** Asks a person at a terminal one question. Ctrl+D counts as an empty answer. */
export async function askPerson(
  question: string,
  { input, output }: Pick<Streams, "input" | "output">,
): Promise<string> {
  const lines = createInterface({ input, output });
  try {
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    return await Promise.race([lines.question(printable(question)), ended]);
  } finally {
    lines.close();
  }
}
