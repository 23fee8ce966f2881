import { EngineError } from "../../../core/errors.ts";
import type { Admission, Share } from "../../../core/limits/admission.ts";
import { AgentChanged } from "../access/agents.ts";
import { waitingLimit } from "./open-statement.ts";
import { lineFull } from "./take.ts";

/**
 * Lets the requests of one conversation take their tickets one after the other: simultaneous statements on two
 * connections could arrive out of order. Requests of other conversations don't wait.
 */
export class Arrivals {
  /** The requests of each conversation in order; the first one is taking its ticket. */
  readonly #lines = new Map<string, Arrival[]>();
  readonly #admission: Admission;

  constructor(admission: Admission) {
    this.#admission = admission;
  }

  /** Queues a request. Call `leave` at the request's end in any case. */
  arrive(signal: AbortSignal): Arrival {
    return new Arrival(this.#lines, this.#admission, signal);
  }

  /** The number of conversations with waiting requests. */
  get size(): number {
    return this.#lines.size;
  }
}

/** A request in the queue for its ticket in a conversation. */
export class Arrival {
  readonly #lines: Map<string, Arrival[]>;
  readonly #admission: Admission;
  readonly #signal: AbortSignal;
  readonly #turn = Promise.withResolvers<void>();
  #ref: string | null = null;

  constructor(lines: Map<string, Arrival[]>, admission: Admission, signal: AbortSignal) {
    this.#lines = lines;
    this.#admission = admission;
    this.#signal = signal;
  }

  /**
   * Runs `work` once all earlier requests of the conversation `ref` have run theirs and the share has a slot. Resolves
   * or rejects as `work` does; rejects with `Overloaded` when there is no slot. After `AgentChanged` the request keeps
   * its position, since it is repeated. Rejects without running `work` when too many wait, when the client disconnects,
   * and when an earlier request found the database unavailable, for which each request would wait in vain.
   */
  async inOrder<T>(ref: string, share: Share, work: () => Promise<T>): Promise<T> {
    if (this.#ref === null) this.#join(ref);
    await this.#turn.promise;
    try {
      const result = await this.#admission.during(share, work);
      this.leave();
      return result;
    } catch (error) {
      if (!(error instanceof AgentChanged)) this.leave(error);
      throw error;
    }
  }

  /** Gives up the position, and lets the next request run. */
  leave(error?: unknown): void {
    const line = this.#lines.get(this.#ref ?? "");
    const at = line?.indexOf(this) ?? -1;
    if (!line || at < 0) return;
    const isAway = error instanceof EngineError && error.code === "unavailable";
    const [, ...followers] = line.splice(at, isAway ? line.length : 1);
    for (const follower of followers) follower.#turn.reject(error);
    const [first] = line;
    if (first) first.#turn.resolve();
    else this.#lines.delete(this.#ref ?? "");
  }

  #join(ref: string): void {
    if (this.#signal.aborted) throw brokeOff();
    const line = this.#lines.get(ref) ?? [];
    if (line.length > waitingLimit) throw lineFull();
    this.#ref = ref;
    this.#lines.set(ref, line);
    if (line.push(this) === 1) this.#turn.resolve();
    else this.#signal.addEventListener("abort", () => this.#breakOff(line), { once: true });
  }

  /** Rejects all requests behind the first one, which is running its statement. */
  #breakOff(line: readonly Arrival[]): void {
    if (line.indexOf(this) < 1) return;
    this.leave();
    this.#turn.reject(brokeOff());
  }
}

const brokeOff = () => new EngineError("bad-request", "The request broke off");
