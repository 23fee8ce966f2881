import { jsonProblem } from "../../../core/text/text.ts";

/** The most sources of an agent. */
export const mostSources = 50;
/** The most definitions of a source. */
export const mostDefinitions = 50;

export const lastPriority = 9_999;

/** Why a source can't have these settings; null when it can. */
export const configProblem = (config: unknown) => jsonProblem(config, { bytes: 16 * 1024, levels: 20 });

/** Why a source can't have this key; null when it can. The key is sent in a header, which can't carry all characters. */
export function senderKeyProblem(authKey: string): string | null {
  return /^[\x21-\x7e]+$/.test(authKey) ? null : "must be printable ASCII without spaces, and not empty";
}

interface PromptNames {
  matchingPrompt?: string | undefined;
  /** The older name of `matchingPrompt`. */
  description?: string | undefined;
}

/** Why the two names of the matching prompt contradict each other; null when they agree. */
export function aliasProblem({ matchingPrompt, description }: PromptNames): string | null {
  const both = matchingPrompt !== undefined && description !== undefined;
  return both && matchingPrompt !== description ? "is another name of matchingPrompt: give one of them" : null;
}

/** The priority of a new definition, after all others. */
export function nextPriority(priorities: readonly number[]): number {
  return Math.min(lastPriority, Math.max(-1, ...priorities) + 1);
}
