import { jsonExcess, listOf, objectOf } from "../../../core/json.ts";

/** The most bytes of one response on the wire. Pictures count too, although no model sees them. */
export const mostWireBytes = 4 * 1024 * 1024;

/** The most levels and values of one message: far more than useful ones have, and few enough to save time and stack. */
const limits = { levels: 500, values: 100_000 };

/** The most parts, and the most tools: the library takes up to 50 µs for each malformed one, and collects all problems. */
const [mostParts, mostTools] = [1_000, 10_000];

/** The limit that a message exceeds, such as `is nested more than 64 levels deep`; null when it exceeds none. */
export const textExcess = (json: string): string | null => jsonExcess(json, limits);

/** Like `textExcess`, for the lists of a parsed response. */
export function listExcess(answer: unknown): string | null {
  const { content, tools } = objectOf(objectOf(answer).result);
  if (listOf(content).length > mostParts) return `has more than ${mostParts} parts`;
  return listOf(tools).length > mostTools ? `lists more than ${mostTools} tools` : null;
}
