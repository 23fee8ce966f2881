/** The owner of work: an organization, its agent, the agent's client. */
export type Share = readonly [organization: string, agent: string, client: string];

/** A call that waits for a slot. */
export interface Waiter {
  share: Share;
  admit(): void;
  refuse(): void;
}

interface Branch {
  /** The amounts of running and waiting work. */
  busy: number;
  waiting: number;
  branches: Map<string, Branch>;
  /** The queue of a client; empty at the other levels. */
  line: Waiter[];
}

const branch = (): Branch => ({ busy: 0, waiting: 0, branches: new Map(), line: [] });

/**
 * Counts running work, and queues waiting calls. The next slot goes to the organization with the least running work;
 * among equal ones, to the one that got its last slot the longest ago. Its agent and that agent's client are chosen in
 * the same way. `last` is the newest call of the organization, agent and client with the most waiting calls.
 */
export class ShareQueue {
  readonly #all = branch();

  get busy(): number {
    return this.#all.busy;
  }

  get waiting(): number {
    return this.#all.waiting;
  }

  begin(share: Share): void {
    let above = this.#all;
    above.busy += 1;
    for (const key of share) {
      const below = above.branches.get(key) ?? branch();
      // Moves the branch behind its siblings.
      above.branches.delete(key);
      above.branches.set(key, below);
      below.busy += 1;
      above = below;
    }
  }

  end(share: Share): void {
    this.#count(share, (part) => {
      part.busy -= 1;
    });
  }

  join(waiter: Waiter): void {
    let part = this.#all;
    part.waiting += 1;
    for (const key of waiter.share) {
      let below = part.branches.get(key);
      if (!below) {
        below = branch();
        part.branches.set(key, below);
      }
      below.waiting += 1;
      part = below;
    }
    part.line.push(waiter);
  }

  /** Removes and returns the next waiter. */
  next(): Waiter | undefined {
    const waiter = leaf(this.#all, (one, other) => one.busy < other.busy).line[0];
    if (waiter) this.leave(waiter);
    return waiter;
  }

  /** Removes and returns the newest waiter of the share with the most waiters. */
  last(): Waiter | undefined {
    const waiter = leaf(this.#all, (one, other) => one.waiting > other.waiting).line.at(-1);
    if (waiter) this.leave(waiter);
    return waiter;
  }

  leave(waiter: Waiter): void {
    let client = this.#all;
    this.#count(waiter.share, (part) => {
      part.waiting -= 1;
      client = part;
    });
    client.line.splice(client.line.indexOf(waiter), 1);
  }

  /** Whether another waiter would make this share one of those with the most waiters. */
  wouldBeLast(share: Share): boolean {
    let part: Branch | undefined = this.#all;
    for (const key of share) {
      const own: Branch | undefined = part?.branches.get(key);
      const waiting = (own?.waiting ?? 0) + 1;
      for (const other of part?.branches.values() ?? []) if (other !== own && other.waiting > waiting) return false;
      part = own;
    }
    return true;
  }

  /** Counts in all branches of a share, and deletes empty ones. */
  #count(share: Share, count: (part: Branch) => void): void {
    let above = this.#all;
    count(above);
    for (const key of share) {
      const below = above.branches.get(key);
      if (!below) return;
      count(below);
      if (below.busy === 0 && below.waiting === 0) above.branches.delete(key);
      above = below;
    }
  }
}

/** A waiting client's branch, by the best branch of each level. */
function leaf(part: Branch, isBetter: (one: Branch, other: Branch) => boolean): Branch {
  let best: Branch | null = null;
  for (const below of part.branches.values()) {
    if (below.waiting > 0 && (best === null || isBetter(below, best))) best = below;
  }
  return best ? leaf(best, isBetter) : part;
}
