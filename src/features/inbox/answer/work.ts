/** The kind of the jobs that answer what a conversation's inbox holds. */
export const answerKind = "inbox.answer";

/**
 * The job that answers a conversation. One at a time runs for a conversation; a later `runAt` of a waiting one debounces,
 * until `latest`: then the messages that came are answered, whatever still comes.
 */
export function answerWork(conversationId: string, runAt: Date, latest?: Date) {
  const payload = { conversationId, ...(latest ? { latest: latest.toISOString() } : {}) };
  return { kind: answerKind, key: conversationId, payload, runAt };
}
