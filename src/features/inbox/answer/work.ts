/** The kind of the jobs that answer what a conversation's inbox holds. */
export const answerKind = "inbox.answer";

/** The job that answers a conversation. One at a time runs for a conversation; a later `runAt` of a waiting one debounces. */
export function answerWork(conversationId: string, runAt: Date) {
  return { kind: answerKind, key: conversationId, payload: { conversationId }, runAt };
}
