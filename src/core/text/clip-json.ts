import type { JsonValue } from "../json.ts";
import { clip } from "./text.ts";

/** A text cut to `limit` characters, with the number of those that were left out. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${clip(text, limit)}… (${text.length - limit} more characters)`;
}

/**
 * A value whose JSON has at most about `limit` characters: shortens texts, and leaves out members of lists and objects
 * that do not fit, with `…` in their place. Scrub the value first, since a cut secret is not recognized.
 */
export function clipJson(value: JsonValue, limit: number): JsonValue {
  let room = limit;
  const take = (one: JsonValue): JsonValue => {
    if (typeof one === "string") {
      const short = shorten(one, Math.max(0, room));
      room -= one.length + 2;
      return short;
    }
    room -= 6;
    if (one === null || typeof one !== "object") return one;
    if (Array.isArray(one)) {
      const items: JsonValue[] = [];
      for (const item of one) {
        if (room <= 0) return [...items, "…"];
        items.push(take(item));
      }
      return items;
    }
    const members: [string, JsonValue][] = [];
    for (const [key, member] of Object.entries(one)) {
      if (room <= 0) return Object.fromEntries([...members, ["…", "…"]]);
      const short = shorten(key, room);
      room -= key.length + 3;
      members.push([short, take(member)]);
    }
    return Object.fromEntries(members);
  };
  return take(value);
}
