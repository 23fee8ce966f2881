import type { Scrub } from "./scrub.ts";

/**
 * A JSON value with all strings, keys and numbers scrubbed; the value itself when nothing changed. A number that
 * contains a secret becomes a text. Throws a `TypeError` for a `bigint`, which JSON can't represent.
 */
export function scrubJson<Value>(value: Value, scrub: Scrub): Value | string {
  return scrubAny(value, scrub) as Value | string;
}

function scrubAny(value: unknown, scrub: Scrub): unknown {
  switch (typeof value) {
    case "string":
      return scrub(value);
    case "number": {
      const text = String(value);
      const clean = scrub(text);
      return clean === text ? value : clean;
    }
    case "bigint":
      throw new TypeError("A big integer is no JSON value");
    case "object":
      return value === null ? null : scrubObject(value, scrub);
    default:
      return value;
  }
}

function scrubObject(value: object, scrub: Scrub): unknown {
  // The JSON of a URL or a date is the result of `toJSON`, not the members of the object.
  if ("toJSON" in value && typeof value.toJSON === "function") {
    const written: unknown = value.toJSON();
    if (written !== value) return scrubAny(written, scrub);
  }
  return Array.isArray(value) ? scrubItems(value, scrub) : scrubMembers(value, scrub);
}

function scrubItems(items: readonly unknown[], scrub: Scrub): readonly unknown[] {
  const clean = items.map((item) => scrubAny(item, scrub));
  return clean.every((item, index) => Object.is(item, items[index])) ? items : clean;
}

function scrubMembers(value: object, scrub: Scrub): object {
  let changed = false;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => {
    const clean: [string, unknown] = [scrub(key), scrubAny(member, scrub)];
    if (clean[0] !== key || !Object.is(clean[1], member)) changed = true;
    return clean;
  });
  return changed ? Object.fromEntries(members) : value;
}
