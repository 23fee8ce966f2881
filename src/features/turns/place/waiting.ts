import type { Services } from "../../../context/ctx.ts";
import { pause } from "../../../core/time/pause.ts";
import type { Leases } from "./leases.ts";

/** How often a queued turn looks by itself, since the notice of another process may be lost. */
const pollMs = 250;

type Dependencies = Pick<Services, "clock" | "notify">;

/** The queued turns of this process, by ticket. */
export class WaitingTurns {
  readonly #services: Dependencies;
  readonly #leases: Leases;
  readonly #conversations = new Map<string, Map<number, () => void>>();

  constructor(services: Dependencies, leases: Leases) {
    this.#services = services;
    this.#leases = leases;
    services.notify.listen("conversation-freed", (conversationId) => this.#wake(conversationId));
  }

  /** Resolves with the revision of the agent when the turn runs. Rejects with the signal's reason, and when this process no longer holds the turn. */
  async wait(turnId: string, { id, ticket }: { id: string; ticket: number }, signal: AbortSignal): Promise<number> {
    const { clock } = this.#services;
    for (;;) {
      // Joins before the check, so that a turn that ends between the check and the wait still wakes this one.
      const { woken, leave } = this.#join(id, ticket);
      try {
        const revision = await this.#leases.promote(turnId);
        if (revision !== null) {
          signal.throwIfAborted();
          return revision;
        }
        await Promise.race([woken, pause(clock, pollMs, signal)]);
      } finally {
        leave();
      }
    }
  }

  #join(conversationId: string, ticket: number): { woken: Promise<void>; leave: () => void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const tickets = this.#conversations.get(conversationId) ?? new Map<number, () => void>();
    this.#conversations.set(conversationId, tickets.set(ticket, resolve));
    const leave = () => {
      tickets.delete(ticket);
      if (tickets.size === 0) this.#conversations.delete(conversationId);
    };
    return { woken: promise, leave };
  }

  /** Lets the first queued turn check again after a turn of the conversation ended. */
  #wake(conversationId: string): void {
    const tickets = this.#conversations.get(conversationId);
    if (tickets) tickets.get(Math.min(...tickets.keys()))?.();
  }
}
