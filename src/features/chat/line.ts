/** Who waits in this process for an earlier turn of a conversation, by ticket. */
export class WaitingLine {
  readonly #lines = new Map<string, Map<number, () => void>>();

  /**
   * Takes a place. Take it before looking whether the turn may run: what ends between the look and the wait wakes it
   * all the same.
   */
  join(conversationId: string, ticket: number): { woken: Promise<void>; leave: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const line = this.#lines.get(conversationId) ?? new Map<number, () => void>();
    this.#lines.set(conversationId, line.set(ticket, resolve));
    const leave = () => {
      line.delete(ticket);
      if (line.size === 0) this.#lines.delete(conversationId);
    };
    return { woken: promise, leave };
  }

  /** A turn of the conversation ended: the next one may look. */
  wake(conversationId: string): void {
    const line = this.#lines.get(conversationId);
    if (line) line.get(Math.min(...line.keys()))?.();
  }
}
