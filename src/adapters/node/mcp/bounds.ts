import { jsonExcess, listOf, objectOf } from "../../../core/json.ts";

/** The most bytes of one answer on the wire; pictures count too, though no model sees them. */
export const mostWireBytes = 4 * 1024 * 1024;

/**
 * The most levels and values of one message: far more than a useful one has, and far fewer than would exhaust time or
 * stack.
 */
const limits = { levels: 500, values: 100_000 };

/** The library takes up to 50 µs for each part or tool that is not as it must be, and keeps what is wrong with all. */
const [mostParts, mostTools] = [1_000, 10_000];

/** The bound that a message exceeds, in words that follow its name; null when it exceeds none. */
export const textExcess = (json: string): string | null => jsonExcess(json, limits);

/** The same of the lists in an answer that was parsed. */
export function listExcess(answer: unknown): string | null {
  const { content, tools } = objectOf(objectOf(answer).result);
  if (listOf(content).length > mostParts) return `has more than ${mostParts} parts`;
  return listOf(tools).length > mostTools ? `lists more than ${mostTools} tools` : null;
}
