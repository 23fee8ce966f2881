import type { S3Secret } from "../../../core/s3.ts";

/** Secrets that say where files lie, and open nothing. */
const places: ReadonlySet<string> = new Set(["s3_region", "s3_bucket"] satisfies S3Secret[]);

/**
 * The texts that no reply may hold: the values of secrets. Of an address only its user and password count, since the
 * rest of it stands in ordinary answers, which would be full of marks.
 */
export function secretTexts(secrets: ReadonlyMap<string, string>): string[] {
  return [...secrets].flatMap(([key, value]) => {
    if (places.has(key)) return [];
    return key.endsWith("_base_url") ? credentialsIn(value) : [value];
  });
}

/** User and password as the address has them and decoded; all of a value that is no address. */
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
