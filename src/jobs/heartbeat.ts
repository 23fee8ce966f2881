import { isNotNull, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { newId } from "../core/ids.ts";
import type { Clock } from "../core/ports.ts";
import { withinTime } from "../core/time/deadline.ts";
import { Rest } from "../core/time/rest.ts";
import type { Database } from "../db/client.ts";
import { unlessDeadlocked } from "../db/retry.ts";
import { budgetHolds, channels, isOpen, jobs, turns } from "../db/schema.ts";

// Only one process at a time works on a turn, a job, a background call or a followed channel: it has a lease in that
// row. A lease ends when its process dies, and also when a living process doesn't know of its work, such as after the
// database's answer to a claim was lost. Leases use the database's clock.

const leaseSeconds = 30;

export const leaseMs = leaseSeconds * 1000;

/** The end of a lease that begins or is renewed now. */
export const leaseUntil: SQL = sql`now() + ${leaseSeconds} * interval '1 second'`;

/** Whether a lease ran out: its process is gone, or out of touch with the database. */
export const hasLapsed = (until: SQLWrapper): SQL<boolean> => sql`${until} < now()`;

/** Ends the leases of all processes. Call it only when they are certainly gone. */
export async function endLeases({ db }: Database): Promise<void> {
  const ended = new Date(0);
  await db.update(turns).set({ leaseUntil: ended }).where(isOpen(turns));
  await db.update(jobs).set({ lockedUntil: ended }).where(isNotNull(jobs.lockedUntil));
  await db.update(budgetHolds).set({ leaseUntil: ended });
  await db.update(channels).set({ followedUntil: ended }).where(isNotNull(channels.followedUntil));
}

/** A renewal that takes this long, in milliseconds, counts as a failed one: as an outage of the database. */
const slowMs = 10_000;

interface Renewal {
  renew(): Promise<void>;
  /** The running renewal. The next one waits for it: a renewal that ends late would undo a newer one. */
  running: Promise<void> | null;
}

/** Renews the leases of this process, and decides whether it may take over work whose lease ran out. */
export class Heartbeat {
  /** This process, as the owner of its turns and channels. */
  readonly owner = newId();
  readonly #clock: Clock;
  readonly #renewals: Renewal[] = [];
  /** While this pause lasts, the process takes over no turns or jobs. */
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
   * Gives other processes the length of a lease to renew theirs. A process that starts, or reaches the database again
   * after an outage, can't know whether the others could renew.
   */
  waitForOthers(): void {
    this.#patience.begin(leaseMs);
  }

  /** Whether an expired lease proves that its process is gone. After an outage of the database it does not. */
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
