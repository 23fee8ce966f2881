import { systemClock } from "../../src/adapters/node/clock.ts";
import { threadedScripts } from "../../src/adapters/node/scripts/pool.ts";
import type { ScriptResult, ScriptRun } from "../../src/core/ports.ts";
import { silent } from "../embedded.ts";

/** An argument of `Scripts.run`, with this content. */
export function script(content: string, rest: Partial<ScriptRun> = {}): ScriptRun {
  return { file: "main.js", content, args: {}, signal: new AbortController().signal, ...rest };
}

type Run = (content: string, rest?: Partial<ScriptRun>) => Promise<ScriptResult>;

/** Runs scripts in a sandbox of the test file's own. */
export function openSandbox(options: { timeoutMs?: number } = {}): Run {
  const scripts = threadedScripts({ clock: systemClock, log: silent, ...options });
  return (content, rest) => scripts.run(script(content, rest));
}

/** The result of a script that has one; throws its error. */
export async function resultOf(outcome: Promise<ScriptResult>): Promise<unknown> {
  const settled = await outcome;
  if (!settled.ok) throw new Error(settled.error);
  return settled.result;
}

/** The error of a script that fails. */
export async function errorOf(outcome: Promise<ScriptResult>): Promise<string> {
  const settled = await outcome;
  return settled.ok ? `No error, but ${JSON.stringify(settled.result)}` : settled.error;
}
