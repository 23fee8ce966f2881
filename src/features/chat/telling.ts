import type { S3Secret } from "../../core/s3.ts";

/** They say where files lie, and open nothing. */
const places: ReadonlySet<string> = new Set(["s3_region", "s3_bucket"] satisfies S3Secret[]);

/**
 * What must not be said of these secrets: their values. Of an address it is only what it holds of user and password; the
 * rest stands in documents and answers that would be full of marks.
 */
export function telling(secrets: ReadonlyMap<string, string>): string[] {
  return [...secrets].flatMap(([key, value]) => {
    if (places.has(key)) return [];
    return key.endsWith("_base_url") ? credentialsIn(value) : [value];
  });
}

/** As they stand in the address, and as they were meant. What can't be read as an address may be anything. */
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
