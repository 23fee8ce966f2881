import { isNotNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import type { Clock } from "../core/ports.ts";
import { withinTime } from "../core/time/deadline.ts";
import { Rest } from "../core/time/rest.ts";
import type { Database } from "../db/client.ts";
import { unlessDeadlocked } from "../db/retry.ts";
import { channels, isOpen, jobs, turns } from "../db/schema.ts";

// A turn, a job and a followed channel are one process's work at a time, under a lease in the row of the work. The lease
// says more than that its process lives: it ends also where that process lost sight of the work, as when the database's
// answer to a claim was lost. Leases go by the database's clock.

const leaseSeconds = 30;

export const leaseMs = leaseSeconds * 1000;

/** The end of a lease that begins or is renewed now. */
export const leaseUntil: SQL = sql`now() + ${leaseSeconds} * interval '1 second'`;

/** Whether a lease ran out: its process is gone, or out of touch with the database. */
export const hasLapsed = (until: SQLWrapper): SQL<boolean> => sql`${until} < now()`;

/** Ends the leases of all processes, where it is certain that they are gone. */
export async function endLeases({ db }: Database): Promise<void> {
  const ended = new Date(0);
  await db.update(turns).set({ leaseUntil: ended }).where(isOpen(turns));
  await db.update(jobs).set({ lockedUntil: ended }).where(isNotNull(jobs.lockedUntil));
  await db.update(channels).set({ followedUntil: ended }).where(isNotNull(channels.followedUntil));
}

/** A renewal that takes this long, in milliseconds, counts as an outage of the database, as one that fails does. */
const slowMs = 10_000;

interface Renewal {
  renew(): Promise<void>;
  /** The running renewal: it does not overlap the next one, which it would undo when it ends later. */
  running: Promise<void> | null;
}

/** Renews the leases of this process, and says whether this process may take over work whose lease ran out. */
export class Heartbeat {
  /** This process, as the owner of its turns and channels. */
  readonly owner = newId();
  readonly #clock: Clock;
  readonly #renewals: Renewal[] = [];
  /** While it lasts, this process takes over no turns and jobs. */
  readonly #patience: Rest;

  constructor({ clock }: { clock: Clock }) {
    this.#clock = clock;
    this.#patience = new Rest(clock);
  }

  /** Adds a kind of work: `renew` renews its leases, and drops the work whose lease another process ended or took. */
  add(renew: () => Promise<void>): void {
    this.#renewals.push({ renew, running: null });
  }

  /**
   * Gives other processes the time of a lease to renew theirs. A process that starts, or reaches the database again, can't
   * know whether an outage kept them from it.
   */
  waitForOthers(): void {
    this.#patience.begin(leaseMs);
  }

  /** Whether a lease that ran out proves that its process is gone, rather than that the database was away. */
  get mayTakeOver(): boolean {
    return this.#patience.isOver;
  }

  /**
   * Renews all leases, within 10 seconds. One kind of work that fails or hangs does not stop the other kinds. Rejects with
   * the first failure.
   */
  async beat(): Promise<void> {
    const began = this.#clock.now();
    const renewed = await Promise.allSettled(this.#renewals.map((renewal) => this.#renew(renewal)));
    const failed = renewed.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") {
      this.#patience.begin(Number.POSITIVE_INFINITY);
      throw failed.reason;
    }
    if (this.#patience.isEndless || this.#clock.now() - began > slowMs) this.waitForOthers();
  }

  #renew(renewal: Renewal): Promise<void> {
    renewal.running ??= unlessDeadlocked(renewal.renew).finally(() => {
      renewal.running = null;
    });
    const { running } = renewal;
    const tooLate = new Error(`Leases were not renewed within ${slowMs / 1000} seconds`);
    return withinTime(this.#clock, slowMs, tooLate, () => running);
  }
}
