import { z } from "@hono/zod-openapi";

/** PostgreSQL accepts 7,999 bytes; the difference is for the text around the entries. */
const mostBytes = 7_500;

/** The notices that one process sends to the others. */
export interface Batch {
  /** The process that sends the batch, and ignores its own batches. */
  from: string;
  /** Topics and keys. */
  entries: readonly (readonly [topic: string, key: string])[];
  /** Whether entries before this batch were lost. */
  gap: boolean;
}

const Payload = z.object({
  from: z.string(),
  gap: z.boolean(),
  entries: z.array(z.tuple([z.string(), z.string()])),
});

/** The payloads of a batch, each short enough for a NOTIFY. An entry that is too long becomes a gap. */
export function toPayloads({ from, entries, gap }: Batch): string[] {
  const texts = entries.map((entry) => JSON.stringify(entry)).filter((text) => bytesOf(text) <= mostBytes);
  const lost = gap || texts.length < entries.length;
  const groups = split(texts);
  if (lost && groups.length === 0) groups.push([]);
  return groups.map((group, index) => toPayload(from, lost && index === 0, group));
}

const toPayload = (from: string, gap: boolean, entries: readonly string[]) =>
  `{"from":${JSON.stringify(from)},"gap":${gap},"entries":[${entries.join(",")}]}`;

/** The payload of a batch without entries. */
export const toBeat = (from: string) => toPayload(from, false, []);

/** Reads a payload; null for one of another program. */
export function fromPayload(payload: string): Batch | null {
  try {
    return Payload.parse(JSON.parse(payload));
  } catch {
    return null;
  }
}

function split(texts: readonly string[]): string[][] {
  const groups: string[][] = [];
  let left = 0;
  for (const text of texts) {
    const bytes = bytesOf(text) + 1;
    if (bytes > left) {
      groups.push([]);
      left = mostBytes + 1;
    }
    groups.at(-1)?.push(text);
    left -= bytes;
  }
  return groups;
}

const utf8 = new TextEncoder();
const bytesOf = (text: string) => utf8.encode(text).length;
