import type { Clock } from "../ports.ts";

/** The milliseconds since a time; 0 when the clock was set back before it. */
export const elapsedMs = (clock: Clock, since: number): number => Math.max(0, clock.now() - since);
