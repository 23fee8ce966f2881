import { type Scrub, scrubber } from "./scrub.ts";

/** How much is remembered of one agent, and of all agents together, in units of `sizeOf`. */
const [mostOfAgent, mostInAll] = [262_144, 8_388_608];

/** The size of a value in UTF-16 units, plus a constant that limits the number of values. */
const sizeOf = (value: string) => value.length + 64;

/**
 * Secret values that turns of this process got, by the ids of their agents. A value stays hidden as long as the process
 * runs, even after it was deleted or replaced (decisions §14), since a service may still repeat it.
 */
export class AgentSecrets {
  readonly #served = new Map<string, readonly string[]>();
  #size = 0;
  #load: (agentId: string) => Promise<Scrub | null> = async () => null;

  /** Sets the function that loads the scrubber of an agent; it returns null for a deleted agent. */
  loadBy(load: (agentId: string) => Promise<Scrub | null>): void {
    this.#load = load;
  }

  /** The scrubber of an agent. Rejects when the agent's secrets can't be read. */
  async scrubOf(agentId: string): Promise<Scrub> {
    return (await this.#load(agentId)) ?? scrubber(this.#served.get(agentId) ?? []);
  }

  /**
   * Notes the current values of an agent. Returns these and earlier ones, but not `shown`, which are no secrets any more.
   */
  serve(agentId: string, values: readonly string[], shown: ReadonlySet<string>): string[] {
    const former = (this.#served.get(agentId) ?? []).filter((value) => !shown.has(value));
    const hidden = [...new Set([...values, ...former])];
    this.#remember(agentId, hidden);
    return hidden;
  }

  /** Remembers values, the newest first. */
  #remember(agentId: string, values: readonly string[]): void {
    this.#forget(agentId);
    const remembered: string[] = [];
    let size = 0;
    for (const value of values) {
      if (size + sizeOf(value) > mostOfAgent) break;
      size += sizeOf(value);
      remembered.push(value);
    }
    this.#served.set(agentId, remembered);
    this.#size += size;
    // A Map keeps the order of insertion, so its first key is the least recently loaded agent.
    for (const oldest of this.#served.keys()) {
      if (this.#size <= mostInAll) return;
      this.#forget(oldest);
    }
  }

  #forget(agentId: string): void {
    for (const value of this.#served.get(agentId) ?? []) this.#size -= sizeOf(value);
    this.#served.delete(agentId);
  }
}
