import { StartError } from "../core/errors.ts";
import type { Setup } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { askPerson } from "./ask-person.ts";
import { command } from "./command-name.ts";
import { openAlone } from "./open-alone.ts";
import { print, printJson } from "./print.ts";

const word = "forget";

/**
 * Deletes the stored secrets that no configured key opens, after the encryption key was lost (decisions §1). A person
 * confirms by typing a word, or `--yes` does.
 */
export async function forgetSecrets(setup: Setup, { json, yes }: Flags): Promise<void> {
  const { engine, close } = await openAlone(setup);
  try {
    const forgotten = await engine.forgetSecrets(async (names) => {
      if (yes) return true;
      await print(`${listOf(names)}\nIf the key is found, set it as ENCRYPTION_KEY_PREVIOUS in place of this.\n`);
      const { stdin: input, stdout: output } = process;
      if (!input.isTTY || !output.isTTY) return false;
      return (await askPerson(`Type ${word} to drop them: `, { input, output })).trim() === word;
    });
    if (forgotten === null) throw new StartError(`Nothing was changed: ${command} forget-secrets --yes drops them`);
    if (json) return await printJson({ forgotten });
    await print(forgotten.length === 0 ? "No secret was lost; everything opens.\n" : `${done(forgotten)}\n`);
  } finally {
    await close();
  }
}

const listOf = (names: readonly string[]) =>
  [
    "No configured key opens these, and they will be lost:",
    ...(names.length > 0 ? names : ["nothing but the key's check"]),
  ]
    .map((name, index) => `${index > 0 ? "  " : ""}${name}\n`)
    .join("");

const done = (names: readonly string[]) =>
  `${names.length} ${names.length === 1 ? "value was" : "values were"} dropped; everything else opens. Set them again: channels are off, and event sources have new addresses.`;
