import { type Scrub, scrubber } from "./scrub.ts";

/** The most that is remembered of one agent, and of all agents together; `sizeOf` a value. */
const [mostOfAgent, mostInAll] = [262_144, 8_388_608];

/** In UTF-16 units. The constant bounds the number of values. */
const sizeOf = (value: string) => value.length + 64;

/**
 * The secret values that turns of this process were served, by the ids of their agents. A value stays hidden until the
 * process ends, also when it was deleted or replaced (decisions §14): a service may still repeat it.
 */
export class AgentSecrets {
  readonly #served = new Map<string, readonly string[]>();
  #size = 0;
  #load: (agentId: string) => Promise<Scrub | null> = async () => null;

  /** Says how the scrub of an agent is loaded; null for an agent that is gone. */
  loadBy(load: (agentId: string) => Promise<Scrub | null>): void {
    this.#load = load;
  }

  /** The scrub of an agent. Rejects when its secrets can't be read. */
  async scrubOf(agentId: string): Promise<Scrub> {
    return (await this.#load(agentId)) ?? scrubber(this.#served.get(agentId) ?? []);
  }

  /** Notes the values of an agent as they are now, and returns these and earlier ones but for `shown`, which are no secrets any more. */
  serve(agentId: string, values: readonly string[], shown: ReadonlySet<string>): string[] {
    const former = (this.#served.get(agentId) ?? []).filter((value) => !shown.has(value));
    const hidden = [...new Set([...values, ...former])];
    this.#remember(agentId, hidden);
    return hidden;
  }

  /** The first of `values` are the newest ones. */
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
    // A Map keeps the order of insertion, so its first key is of the agent that was loaded longest ago.
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
