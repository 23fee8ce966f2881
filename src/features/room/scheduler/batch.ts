import { mostAttempts } from "./fates.ts";

/** A turn takes up no more entries, and no more bytes of JSON in them unless one alone has more. */
export const [mostEntries, mostBytes] = [10, 256 * 1024];

export interface Waiting {
  id: string;
  attempts: number;
  /** The size of the payload as JSON. */
  bytes: number;
}

/**
 * Chooses the entries of the next turn from those that wait, the oldest first. The last attempt of an entry is its own,
 * so that one which no turn survives fails alone.
 */
export function batchOf(waiting: readonly Waiting[]): string[] {
  const isLast = ({ attempts }: Waiting) => attempts >= mostAttempts - 1;
  const [oldest] = waiting;
  if (!oldest) return [];
  if (isLast(oldest)) return [oldest.id];
  const taken: string[] = [];
  let bytes = 0;
  for (const entry of waiting) {
    if (isLast(entry)) continue;
    bytes += entry.bytes;
    if (taken.length >= mostEntries || (taken.length > 0 && bytes > mostBytes)) break;
    taken.push(entry.id);
  }
  return taken;
}
