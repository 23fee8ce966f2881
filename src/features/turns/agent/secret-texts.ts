import type { S3Secret } from "../../../core/s3.ts";

/** Secrets that name the place of files; they give no access. */
const places: ReadonlySet<string> = new Set(["s3_region", "s3_bucket"] satisfies S3Secret[]);

/**
 * The texts that no reply may contain: the values of secrets. Of a base URL only user and password count, since
 * ordinary replies contain the rest of a URL, and scrubbing would cut it out.
 */
export function secretTexts(secrets: ReadonlyMap<string, string>): string[] {
  return [...secrets].flatMap(([key, value]) => {
    if (places.has(key)) return [];
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
