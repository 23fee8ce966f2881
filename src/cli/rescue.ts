import { StartError } from "../core/errors.ts";
import type { OpenEngine, Setup } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { askPerson } from "./ask-person.ts";
import { command } from "./command-name.ts";
import { openAlone } from "./open-alone.ts";
import { print, printJson } from "./print.ts";

/** Seals all stored secrets with `ENCRYPTION_KEY`. A server on PostgreSQL may run meanwhile. */
export function rotateKey(setup: Setup, { json }: Flags): Promise<void> {
  return withData(setup, async (engine) => {
    const { resealed, total } = await engine.rotateKey();
    if (json) return await printJson({ resealed, alreadyCurrent: total - resealed, total });
    const rest = total - resealed;
    await print(`${values(resealed)} sealed anew with ENCRYPTION_KEY; ${values(rest)} sealed with it before.\n`);
    if (setup.settings.ENCRYPTION_KEY_PREVIOUS.length > 0) {
      await print("Remove ENCRYPTION_KEY_PREVIOUS once every server runs with the new ENCRYPTION_KEY.\n");
    }
  });
}

const values = (count: number) => `${count} ${count === 1 ? "value was" : "values were"}`;

/**
 * Sets a new password of a user and prints it, since the server may not be able to send mail (decisions §1, "Rescue").
 */
export function resetPassword(setup: Setup, email: string, { json }: Flags): Promise<void> {
  return withData(setup, async (engine) => {
    const reset = await engine.resetPassword(email);
    if (json) return await printJson(reset);
    const { sessionsEnded: ended } = reset;
    await print(`New password of ${reset.email}: ${reset.password}   (shown only now)\n`);
    await print(`${ended} ${ended === 1 ? "session was" : "sessions were"} ended.\n`);
  });
}

/** Makes a user a Platform Admin, or ends that with `--revoke`. */
export function changePlatformAdmin(setup: Setup, email: string, { json, revoke }: Flags): Promise<void> {
  return withData(setup, async (engine) => {
    const change = await engine.changePlatformAdmin(email, revoke !== true);
    if (json) return await printJson(change);
    const state = change.isPlatformAdmin ? "a Platform Admin" : "no Platform Admin";
    await print(`${change.email} ${change.changed ? "is now" : "was already"} ${state}.\n`);
  });
}

const word = "forget";

/**
 * Deletes the stored secrets that no configured key opens, after the encryption key was lost (decisions §1). A person
 * confirms this by typing a word, or `--yes` does.
 */
export function forgetSecrets(setup: Setup, { json, yes }: Flags): Promise<void> {
  return withData(setup, async (engine) => {
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
  });
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

/** Opens a server's data for the work of a command, and closes it afterwards. */
async function withData(setup: Setup, work: (engine: OpenEngine["engine"]) => Promise<void>): Promise<void> {
  const { engine, close } = await openAlone(setup);
  try {
    await work(engine);
  } finally {
    await close();
  }
}
