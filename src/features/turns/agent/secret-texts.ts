import { s3Places } from "../../../core/files/s3.ts";

/**
 * The texts that no reply may contain: the values of secrets but for those under `plain` keys. Of a base URL only user and password count, since
 * ordinary replies contain the rest of a URL, and scrubbing would cut it out.
 */
export function secretTexts(secrets: ReadonlyMap<string, string>, plain: ReadonlySet<string> = s3Places): string[] {
  return [...secrets].flatMap(([key, value]) => {
    if (plain.has(key)) return [];
    // The secret one of two keys is secret by itself too.
    if (key === "tracing_api_key") return [value, ...value.split(":")];
    return key.endsWith("_base_url") ? credentialsIn(value) : [value];
  });
}

/** User and password of a URL, encoded and decoded; the whole value when it is no URL. */
function credentialsIn(address: string): string[] {
  const url = URL.parse(address);
  if (!url) return [address];
  return [url.username, url.password].flatMap((part) => [part, decoded(part)]);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
