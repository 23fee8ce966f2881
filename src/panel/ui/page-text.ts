import { countText } from "./numbers.ts";

/** A total that also stands for any greater one: long lists are not counted to their end (src/http/paging.ts). */
const mostCounted = 10_001;

/** Which entries of a list a page shows. */
export function pageText({ total, limit, offset }: { total: number; limit: number; offset: number }): string {
  const all = total === mostCounted ? `more than ${countText(mostCounted - 1)}` : countText(total);
  return `${countText(offset + 1)}–${countText(Math.min(offset + limit, total))} of ${all}`;
}
