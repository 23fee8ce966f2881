import { EngineError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";

/** A statement that does for many jobs at once what each of them needs. */
export interface Gathered<In, Out> {
  /**
   * The results in the order of the items; empty where there is nothing to answer. Where it rejects for many items, each is tried by itself, so that an item
   * fails alone.
   */
  run(items: readonly In[]): Promise<readonly Out[]>;
  /** The most items of one statement, where those are fewer than usual. */
  most?: number;
}

/** Joins what a job needs with what others need of the same statement, and answers the job's own result. */
export type Together = <In, Out>(work: Gathered<In, Out>, item: In) => Promise<Out>;

export interface Gathering {
  together: Together;
  /** Looks again for a group that may go. Call it when fewer jobs run. */
  look(): void;
}

/** A statement does no more at once, since a turn may have to wait for its end. */
const usualMost = 32;

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
      const { most = usualMost } = work;
      if (!group.late && group.members.length < Math.min(most, enough)) continue;
      group.cancel();
      groups.delete(work);
      const members = group.members.splice(0, most);
      if (group.members.length > 0) open(work, group.members);
      busy = true;
      void runGroup(work, members).finally(() => {
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
        // Others that begin in this moment join.
        queueMicrotask(look);
      }),
  };
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
