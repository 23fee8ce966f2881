import { commonLane } from "../db/tables/work.ts";
import type { JobKind, JobKinds } from "./attempt.ts";
import type { FreeSlots, InLane } from "./claim.ts";

/** The most running jobs of a kind in this process by default. */
const usualLimit = 8;

/** The most jobs of a kind that are claimed at once. */
const mostClaimed = 32;

export interface SlotsOfKinds {
  /** The kinds that have a free slot while these jobs run. */
  free(running: readonly InLane[]): FreeSlots[];
  /** Whether some job would have to wait for a slot of its kind and lane while these jobs run. */
  short(running: readonly InLane[]): boolean;
  /** Notes the order of the claimed jobs: it decides which lane is next. */
  served(claimed: readonly InLane[]): void;
}

/**
 * The slots of this process for jobs, by kind, so that a stalled kind delays no other kind. One organization gets at
 * most half of a kind's slots: if its jobs stall, the other half stays for others.
 */
export function createSlots(kinds: JobKinds): SlotsOfKinds {
  const last = new Map<string, string>();
  return {
    free: (running) =>
      Object.entries(kinds).flatMap(([kind, traits]) => {
        const limit = limitOf(traits);
        const free = limit - running.filter((job) => job.kind === kind).length;
        const slots = {
          kind,
          free: Math.min(free, mostClaimed),
          share: shareOf(traits),
          after: last.get(kind) ?? commonLane,
        };
        return free > 0 ? [slots] : [];
      }),
    short: (running) =>
      Object.entries(kinds).some(([kind, traits]) => {
        const lanes = running.filter((job) => job.kind === kind).map(({ lane }) => lane);
        const spent = (lane: string) => lanes.filter((other) => other === lane).length >= shareOf(traits);
        return lanes.length >= limitOf(traits) || lanes.some(spent);
      }),
    served(claimed) {
      for (const { kind, lane } of claimed) last.set(kind, lane);
    },
  };
}

const limitOf = ({ limit = usualLimit }: JobKind) => (typeof limit === "number" ? limit : limit());

function shareOf(traits: JobKind): number {
  const limit = limitOf(traits);
  return traits.scarce ? Math.max(1, limit - 1) : Math.ceil(limit / 2);
}
