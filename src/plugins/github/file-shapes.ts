import { fromBase64 } from "../../core/ids.ts";
import { isObject, type JsonObject, objectOf, textOf } from "../../core/json.ts";
import { scrubbed } from "../../core/scrub/scrub.ts";
import type { ApiAnswer } from "../json-api.ts";
import { numberOrNull, textOrNull } from "../shapes.ts";

/** The types of a tree's entries, by the names of the contents API. */
const treeTypes = new Map([
  ["blob", "file"],
  ["tree", "dir"],
  ["commit", "submodule"],
]);

export function folderEntry(value: unknown): JsonObject {
  const entry = objectOf(value);
  return { path: textOrNull(entry.path), type: textOrNull(entry.type), size: numberOrNull(entry.size) };
}

/** An entry of a folder's tree, with its path from that folder. */
export function treeEntry(value: unknown, folder: readonly string[]): JsonObject {
  const entry = objectOf(value);
  const type = treeTypes.get(textOf(entry.type)) ?? textOrNull(entry.type);
  return {
    path: [...folder, textOf(entry.path)].join("/"),
    type: entry.mode === "120000" ? "symlink" : type,
    size: numberOrNull(entry.size),
  };
}

/** The most characters of a file's text that one call returns. */
const mostCharacters = 40_000;

/** A file with its text from `offset` on; `next` is the offset for the next call. */
export function fileOf({ body, scrub }: ApiAnswer, offset: number): JsonObject {
  const file = readable(body);
  const shown = {
    path: textOrNull(file.path),
    sha: textOrNull(file.sha),
    size: numberOrNull(file.size),
    url: textOrNull(file.html_url),
  };
  // The scrubber found the token in this base64 and removed it, so it can't be decoded any more.
  if (textOf(file.content).includes(scrubbed))
    throw new Error("The file holds this agent's own token, so it is not shown");
  const bytes = file.encoding === "base64" ? fromBase64(textOf(file.content)) : null;
  if (!bytes)
    throw new Error(`${textOf(file.path)} has ${numberOrNull(file.size) ?? 0} bytes; files up to 1 MB can be read`);
  const text = textIn(bytes);
  if (text === null) return { ...shown, binary: true, text: null, next: null };
  const whole = scrub(text);
  const end = endOfPage(whole, offset);
  return { ...shown, binary: false, text: whole.slice(offset, end), next: end < whole.length ? end : null };
}

function readable(body: unknown): JsonObject {
  if (Array.isArray(body)) throw new Error("This is a folder; listFiles lists it");
  const file = isObject(body) ? body : {};
  if (file.type === "submodule") throw new Error(`This is a submodule, of ${textOf(file.submodule_git_url)}`);
  if (file.type === "symlink") throw new Error(`This is a symbolic link to ${textOf(file.target)}`);
  return file;
}

/** The bytes as text; null for binary data. */
function textIn(bytes: Uint8Array<ArrayBuffer>): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Where a page ends, which is never in the middle of a character. */
function endOfPage(text: string, offset: number): number {
  const end = Math.min(text.length, offset + mostCharacters);
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}
