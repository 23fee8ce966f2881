import type { ScriptFiles } from "./modules.ts";

/** An order to a thread: a script, its arguments as JSON, and its time limit. A thread has one order at a time. */
export interface ScriptOrder {
  file: string;
  files: ScriptFiles;
  args: string;
  timeoutMs: number;
}

/** The result as JSON of at most 1 MiB and 200 levels, or why there is none. */
export type ScriptOutcome = { ok: true; json: string } | { ok: false; error: string };

/** A thread's report about its order: the script starts, logs a text, or has ended. */
export type ScriptReport = { started: true } | { logged: string } | { outcome: ScriptOutcome };

export const tooLate = (timeoutMs: number) => `The script did not finish within ${timeoutMs / 1000} seconds`;
export const tooMuchMemory = "The script needs more than the 64 MB of memory that it may use";
