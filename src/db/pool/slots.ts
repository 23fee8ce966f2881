import type { Connection } from "./connection.ts";

/** No statement is sent behind one that has run longer than this. */
const slowMs = 50;

/**
 * The number of brief statements that share a connection before the next connection is used. A busy server process has
 * its plans and pages in its cache: a turn costs PostgreSQL a fifth less than with one connection for each statement,
 * and answers that arrive together cost this process less.
 */
const mostBrief = 4;

/** No brief statement is sent behind one that has run longer than this while another connection is available. */
const lateMs = 5;

/** A connection of a pool. */
export interface Slot {
  connection: Connection;
  /** Functions that reject the running statements. */
  running: Set<(error: unknown) => void>;
  /** The number of running statements that are not brief. */
  lengthy: number;
  /** When the server began the oldest running statement. */
  busySince: number;
  /**
   * Whether the connection has answered. Until then it gets no second statement, since a driver that can't connect
   * never settles it.
   */
  ready: boolean;
  reserved: boolean;
  /** Whether it takes no further statements, and closes once it is idle. */
  retired: boolean;
  answeredAt: number;
  cancelLifetime(): void;
  gone: boolean;
}

const isOpen = ({ reserved, retired, ready }: Slot) => ready && !reserved && !retired;

/** An idle connection; for a brief statement also one with room behind brief statements. Null for none. */
export function withRoom(slots: readonly Slot[], brief: boolean, now: number): Slot | null {
  const hasRoom = ({ running, lengthy, busySince }: Slot) =>
    running.size === 0 || (brief && lengthy === 0 && running.size < mostBrief && now - busySince <= lateMs);
  return slots.find((slot) => isOpen(slot) && hasRoom(slot)) ?? null;
}

/** The connection with the fewest statements; null when the caller has to wait. */
export function leastBusy(slots: readonly Slot[], now: number): Slot | null {
  // Statements behind a blocked one would wait as long.
  const free = slots.filter((slot) => isOpen(slot) && now - slot.busySince <= slowMs);
  return free.reduce<Slot | null>((best, slot) => (best && best.running.size <= slot.running.size ? best : slot), null);
}
