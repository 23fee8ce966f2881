import type { Payload } from "../intake/payload.ts";

/** A message that waits for an answer. */
export interface PendingMessage extends Payload {
  id: string;
  seq: number;
  providerId: string;
  sender: string;
  restarts: number;
  attempts: number;
}

/** The messages that one turn answers. */
export interface Batch {
  /** Every answered message, including corrections. */
  ids: string[];
  /** The messages in order, with their corrections applied. */
  messages: [PendingMessage, ...PendingMessage[]];
  /** Whether messages remain for the next turn. */
  leaves: boolean;
}

/** The most messages of a turn, and the most UTF-16 units of their text; a single longer message is still taken. */
export const [mostMessages, mostText] = [100, 256 * 1024];

/** After this many failures in batches, a message is tried alone, so that only it can fail (decisions §8). */
export const sharedAttempts = 2;

/**
 * Chooses the messages of the next turn: as many as fit, or only the oldest one after failures. `pending` are those
 * that wait, oldest first. A correction of a waiting message replaces it; other corrections are messages of their own.
 */
export function batchOf(pending: readonly [PendingMessage, ...PendingMessage[]], alone: boolean): Batch {
  const known = new Map(pending.map((message) => [message.providerId, message]));
  const corrected = (message: PendingMessage) => (message.edits === null ? undefined : known.get(message.edits));
  // A correction may arrive before its message.
  const [oldest = pending[0], ...others] = pending.filter((message) => !corrected(message));
  const taken: Batch["messages"] = [oldest];
  let length = lengthOf(oldest);
  for (const message of alone ? [] : others.slice(0, mostMessages - 1)) {
    length += lengthOf(message);
    if (length > mostText) break;
    taken.push(message);
  }
  const isTaken = (message: PendingMessage) => taken.includes(message);
  const corrections = pending.filter((message) => {
    const original = corrected(message);
    return original !== undefined && isTaken(original) && !isTaken(message);
  });
  const messages = taken.map((message) =>
    corrections.filter(({ edits }) => edits === message.providerId).reduce(withCorrection, message),
  );
  const ids = [...taken, ...corrections].map(({ id }) => id);
  return { ids, messages: messages as Batch["messages"], leaves: ids.length < pending.length };
}

const lengthOf = ({ text, quotes }: PendingMessage) =>
  quotes.reduce((sum, quote) => sum + quote.text.length + (quote.passage?.length ?? 0), text.length);

/**
 * Applies a correction to a message. From then on the correction stores the fates of the files, including the known
 * fates of files that the message had already.
 */
function withCorrection(message: PendingMessage, { id, text, files, quotes }: PendingMessage): PendingMessage {
  const fates = new Map(message.files.map(({ ref, fate }) => [ref, fate]));
  return {
    ...message,
    id,
    text,
    quotes,
    files: files.map((file) => ({ ...file, fate: file.fate ?? fates.get(file.ref) })),
  };
}

/** The name of the writer; null when several people wrote. */
export function onlyName(messages: readonly PendingMessage[]): string | null {
  const [first] = messages;
  return messages.every(({ sender }) => sender === first?.sender) ? (first?.senderName ?? null) : null;
}
