import type { JsonValue } from "../../core/json.ts";
import { closing, opening } from "../../core/placeholder.ts";
import { isDeeperThan, storableJson } from "../../core/text.ts";
import { placeholderNames, statePrefix } from "../../turn/hooks.ts";
import { privateKey } from "../../turn/state.ts";

/** So many hooks an agent has at most. */
export const mostHooks = 32;

export const lastPosition = 9_999;

/** The limit of a hook's arguments, as JSON in UTF-8. */
const mostBytes = 16 * 1024;
const mostLevels = 20;

const known = [...placeholderNames, `${statePrefix}KEY`].map((name) => `{{${name}}}`).join(", ");

const utf8 = new TextEncoder();

/** Why a hook can't have these arguments; null when it can. */
export function argsProblem(args: unknown): string | null {
  // The depth is checked first, since all further checks go into every level.
  if (isDeeperThan(args, mostLevels)) return `must not be nested deeper than ${mostLevels} levels`;
  const text = JSON.stringify(args);
  if (utf8.encode(text).byteLength > mostBytes) return `must be at most ${mostBytes} bytes as JSON`;
  if (storableJson(args) !== text) return "must not contain NUL or unpaired surrogates";
  return placeholderProblem(args as JsonValue);
}

/** An unknown placeholder would reach the tool as text. */
function placeholderProblem(args: JsonValue): string | null {
  const names = textsIn(args).flatMap((text) => [...text.matchAll(named)].map(([, name = ""]) => name));
  if (names.includes(`${statePrefix}${privateKey}`)) return `${statePrefix}${privateKey} can't be read by hooks`;
  const unknown = [...new Set(names.filter((name) => !isKnown(name)))];
  if (unknown.length === 0) return null;
  return `knows no ${unknown.map((name) => `{{${name}}}`).join(", ")}; there are ${known}`;
}

/** A word in braces, perhaps with a dot and more. `{{skill_env.…}}` is none; tools fill that one in. */
const named = new RegExp(String.raw`${opening}(?!skill_env\.)([A-Za-z_]\w*(?:\.[^{}]*?)?)${closing}`, "g");

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
