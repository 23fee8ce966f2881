import type { JsonValue } from "../../core/json.ts";
import { opening } from "../../core/text/placeholder.ts";
import { clip, jsonProblem } from "../../core/text/text.ts";
import { placeholderNames, statePrefix } from "../../turn/hooks.ts";
import { privateKey } from "../../turn/state.ts";

/** The most hooks of an agent. */
export const mostHooks = 32;

export const lastPosition = 9_999;

const limits = { bytes: 16 * 1024, levels: 20 };

const known = [...placeholderNames, `${statePrefix}KEY`].map((name) => `{{${name}}}`).join(", ");

/** Whether a tool calls another agent. Hooks may not do so: each message would cost a turn of that agent, too. */
export const asksAgent = (toolName: string): boolean => toolName.startsWith("agent:");

/** Why a hook can't have these arguments; null when it can. */
export function argsProblem(args: unknown): string | null {
  return jsonProblem(args, limits) ?? placeholderProblem(args as JsonValue);
}

/** Why a placeholder is invalid; null for valid ones. The tool would get an unknown placeholder as text. */
function placeholderProblem(args: JsonValue): string | null {
  const names = textsIn(args).flatMap((text) => [...text.matchAll(named)].map(([, name = ""]) => name.trimEnd()));
  if (names.includes(`${statePrefix}${privateKey}`)) return `${statePrefix}${privateKey} can't be read by hooks`;
  const unknown = [...new Set(names.filter((name) => !isKnown(name)))];
  if (unknown.length === 0) return null;
  const shown = unknown.slice(0, mostNamed).map((name) => `{{${clip(name, longestName)}}}`);
  const more = unknown.length > mostNamed ? ` and ${unknown.length - mostNamed} more` : "";
  return `knows no ${shown.join(", ")}${more}; there are ${known}`;
}

/** The most unknown placeholders in a refusal, and the most characters of each. */
const mostNamed = 3;
const longestName = 200;

/**
 * Matches a name in braces, such as `{{name}}`, `{{name }}` and `{{name.key}}`. It matches all spaces after the name at
 * once, since trying a long run of them at each position takes quadratic time. Excludes `{{skill_env.…}}`, which tools
 * fill in.
 */
const named = new RegExp(String.raw`${opening}(?!skill_env\.)([A-Za-z_]\w*(?:\s*|\.[^{}]*))\}\}`, "g");

const longestKey = 128;

function isKnown(name: string): boolean {
  if (placeholderNames.some((known) => known === name)) return true;
  const key = name.startsWith(statePrefix) ? name.slice(statePrefix.length) : "";
  return key !== "" && key.length <= longestKey;
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(textsIn);
}

/** Why a hook can't replace the reply; null when it can, or does not replace it. */
export function replacingProblem({ event, mutates }: { event: string; mutates: boolean }): string | null {
  return mutates && event !== "response_generated" ? "only a hook on response_generated can replace the reply" : null;
}
