import type { Queries } from "../db/client.ts";
import { type Claim, type ClaimedJob, claimStatement, leftStatement } from "./claim-statement.ts";

export type { Claim, ClaimedJob, DeadJob } from "./claim-statement.ts";

/** A lane is the jobs of one kind and one organization; those without an organization are the lane `commonLane`. */
export type InLane = Pick<ClaimedJob, "kind" | "lane">;

/** The free slots of one kind of job in a process. */
export interface FreeSlots {
  kind: string;
  /** At least 1. */
  free: number;
  /** The most jobs of one lane that the process may run, including running ones. */
  share: number;
  /** The lane that was served last. Its next turn is after all other lanes. */
  after: string;
}

interface ClaimRequest {
  /** One entry for each kind with a free slot. */
  slots: readonly FreeSlots[];
  /** The jobs that this process runs. It never takes over its own jobs, however old their leases are. */
  running: readonly (InLane & Pick<ClaimedJob, "id">)[];
  /** Whether jobs with expired leases may be taken over. */
  takesOver: boolean;
  lock: string;
  now: number;
}

/** Takes jobs that are due, as far as there are slots for their kinds and lanes. */
export async function claim(queries: Queries, { slots, running, takesOver, lock, now }: ClaimRequest): Promise<Claim> {
  const [row] = await claimStatement.run(queries, {
    now: new Date(now),
    lock,
    kinds: slots.map(({ kind }) => kind),
    free: slots.map(({ free }) => String(free)),
    share: slots.map(({ share }) => String(share)),
    after: slots.map(({ after }) => after),
    runningIds: running.map(({ id }) => id),
    runningKinds: running.map(({ kind }) => kind),
    runningLanes: running.map(({ lane }) => lane),
    takesOver,
  });
  if (!row) throw new Error("The claim answered no row");
  return row;
}

/** Whether a due job of these kinds waits for a slot, rather than for another job of its key. */
export async function isAnyLeft(queries: Queries, kinds: readonly string[], now: number): Promise<boolean> {
  return (await leftStatement.run(queries, { now: new Date(now), kinds })).length > 0;
}
