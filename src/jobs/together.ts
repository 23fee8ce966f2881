import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";

/** A statement that does for many jobs at once what each of them needs. */
export interface Gathered<In, Out> {
  /**
   * The results in the order of the items; empty where there is nothing to answer. Where it rejects for many items, each is tried by itself, so that an item
   * fails alone.
   */
  run(items: readonly In[]): Promise<readonly Out[]>;
}

/** Joins what a job needs with what others need of the same statement, and answers the job's own result. */
export type Together = <In, Out>(work: Gathered<In, Out>, item: In) => Promise<Out>;

export interface Gathering {
  together: Together;
  /** Looks again for a group that may go. Call it when fewer jobs run. */
  look(): void;
}

/**
 * The sizes of a statement: the least, first and largest number of items. A turn may have to wait for the statement's
 * end, so after one that took longer than `longMs` the next has half as many items, and after one that took less than
 * `shortMs` twice as many, in milliseconds. Fewer than the least would save nothing where the database is far away.
 */
const [leastItems, firstItems, mostItems] = [8, 16, 32];
const [shortMs, longMs] = [100, 200];

/** A group waits until it has this part of the jobs that run, or for so long, in milliseconds. */
const [part, longestMs] = [1 / 8, 100];

interface Member {
  item: unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Group {
  members: Member[];
  late: boolean;
  cancel(): void;
}

type Work = Gathered<unknown, unknown>;

/**
 * Gathers the statements of jobs that run at the same time. One statement runs at a time, so that the turns share the
 * database with one statement of the background at most; `running` is the number of jobs that run.
 */
export function createGathering(clock: Clock, running: () => number): Gathering {
  const groups = new Map<Work, Group>();
  /** The number of items that a statement takes. */
  const sizes = new WeakMap<Work, number>();
  let busy = false;

  const open = (work: Work, members: Member[] = []): Group => {
    const group: Group = { members, late: false, cancel: () => {} };
    group.cancel = clock.after(longestMs, () => {
      group.late = true;
      look();
    });
    groups.set(work, group);
    return group;
  };

  const look = () => {
    if (busy) return;
    const enough = Math.ceil(running() * part);
    for (const [work, group] of groups) {
      const most = sizes.get(work) ?? firstItems;
      if (!group.late && group.members.length < Math.min(most, enough)) continue;
      group.cancel();
      groups.delete(work);
      const members = group.members.splice(0, most);
      if (group.members.length > 0) open(work, group.members);
      busy = true;
      const startedAt = clock.now();
      void runGroup(work, members).finally(() => {
        sizes.set(work, sizeAfter(most, members.length, clock.now() - startedAt));
        busy = false;
        look();
      });
      return;
    }
  };

  return {
    look,
    together: (work, item) =>
      new Promise((resolve, reject) => {
        const joined = work as Work;
        const group = groups.get(joined) ?? open(joined);
        group.members.push({ item, resolve: resolve as Member["resolve"], reject });
        // Items that come in this moment join the group.
        queueMicrotask(look);
      }),
  };
}

/** How many items a statement takes after one that took `items`, at most `most`, and so many milliseconds. */
function sizeAfter(most: number, items: number, ms: number): number {
  if (ms > longMs) return Math.max(leastItems, Math.floor(items / 2));
  return ms < shortMs && items === most ? Math.min(mostItems, most * 2) : most;
}

async function runGroup(work: Work, members: readonly Member[]): Promise<void> {
  try {
    const results = await work.run(members.map(({ item }) => item));
    members.forEach(({ resolve }, index) => {
      resolve(results[index]);
    });
  } catch (error) {
    // No single item is the cause of an outage.
    if (members.length === 1 || error instanceof EngineError) for (const { reject } of members) reject(error);
    else for (const member of members) await runGroup(work, [member]);
  }
}
