import type { Services } from "../context.ts";
import { newId } from "../core/ids.ts";
import { attempt, type JobHandlers } from "./attempt.ts";
import { forgetFailed } from "./failed.ts";
import { type ClaimedJob, claim, type Held, leaseMs, release, renew } from "./queue.ts";
import { sayFailed, settle } from "./settle.ts";

export interface Worker {
  /** There may be work, now or at this time (milliseconds since the epoch): call it after the commit of what enqueued some. */
  wake(at?: number): void;
  /** Begins what is due, whoever enqueued it. Call it every 10 seconds. */
  tick(): Promise<void>;
  /** Does what is due until nothing is. */
  work(): Promise<void>;
  /** Takes no more jobs, lets running ones finish for `graceMs`, and frees the rest for others. */
  stop(graceMs: number): Promise<void>;
}

interface Running extends Held {
  /** False: taken over by another process, or freed. */
  ours: boolean;
  controller: AbortController;
  ended: Promise<void>;
}

const concurrency = 4;
const beatMs = leaseMs / 6;
/** A job that falls due later is found by the next `tick`. */
const horizonMs = 10_000;
const restMs = 1_000;
const hourMs = 60 * 60_000;

/** Does the jobs of these kinds, at most 4 at a time in this process. */
export function createWorker(services: Pick<Services, "database" | "clock" | "log">, handlers: JobHandlers): Worker {
  const { database, clock, log } = services;
  const kinds = Object.keys(handlers);
  const running = new Map<string, Running>();
  let stopping = false;
  let beating = false;
  let more = false;
  let filling: Promise<void> | null = null;
  let cancelTimer = () => {};
  /** When the timer is to wake; nothing is asked of the database before that. */
  let timerAt = Number.POSITIVE_INFINITY;
  let tidyAt = 0;

  /** Takes what is due into the free places; a call while one is under way makes it look again. */
  const fill = (): Promise<void> => {
    more = true;
    filling ??= fillUp();
    return filling;
  };

  const fillUp = async () => {
    try {
      while (more && !stopping) {
        more = false;
        await takeDue();
      }
    } finally {
      filling = null;
    }
  };

  const takeDue = async () => {
    const free = concurrency - running.size;
    if (free <= 0 || kinds.length === 0) return;
    const lock = newId();
    const { claimed, dead, next_at } = await claim(database, { kinds, limit: free, lock, now: clock.now() });
    for (const job of dead) sayFailed(log, job);
    // What waited for one of the same key may go now.
    if (dead.length > 0) more = true;
    for (const job of claimed) start(job, lock);
    if (claimed.length < free && next_at !== null) wakeAt(next_at);
  };

  const wakeAt = (at: number) => {
    const ms = Math.max(0, at - clock.now());
    if (stopping || ms > horizonMs || at >= timerAt) return;
    cancelTimer();
    timerAt = at;
    cancelTimer = clock.after(ms, () => {
      timerAt = Number.POSITIVE_INFINITY;
      wake();
    });
  };

  const wake = (at = 0) => {
    if (stopping) return;
    if (at > clock.now()) return wakeAt(at);
    fill().catch((err: unknown) => {
      log.warn({ err }, "Jobs could not be claimed");
      wakeAt(clock.now() + restMs);
    });
  };

  const start = (job: ClaimedJob, lock: string) => {
    const run: Running = { id: job.id, lock, ours: true, controller: new AbortController(), ended: Promise.resolve() };
    running.set(job.id, run);
    run.ended = perform(job, run).finally(() => {
      forget(run);
      wake();
    });
    beat();
  };

  const perform = async (job: ClaimedJob, run: Running) => {
    const { id: jobId, kind } = job;
    const problem = await attempt(clock, handlers, job, run.controller);
    if (!run.ours) return;
    try {
      const settled = await settle(services, job, run, problem);
      if (!settled && run.ours) log.warn({ jobId, kind }, "A job was taken over before it ended");
    } catch (err) {
      if (run.ours) log.error({ jobId, kind, err }, "How a job ended could not be noted");
    }
  };

  const forget = (run: Running) => {
    if (running.get(run.id) === run) running.delete(run.id);
  };

  /** Signs of life, as long as there is any; one that hangs keeps no other back. */
  const beat = () => {
    if (beating || running.size === 0) return;
    beating = true;
    clock.after(beatMs, () => {
      beating = false;
      renewLeases().catch((err: unknown) => log.warn({ err }, "Leases of jobs could not be renewed"));
      beat();
    });
  };

  const renewLeases = async () => {
    const asked = [...running.values()];
    if (asked.length === 0) return;
    const held = await renew(database, asked, clock.now());
    for (const run of asked) if (!held.has(run.lock + run.id)) drop(run, "The job was taken over");
  };

  const drop = (run: Running, reason: string) => {
    // One that ended meanwhile has no lease any more, and that is as it should be.
    if (running.get(run.id) !== run) return;
    run.ours = false;
    forget(run);
    run.controller.abort(new Error(reason));
  };

  const free = async (run: Running) => {
    drop(run, "The server is stopping");
    await release(database, run).catch((err: unknown) =>
      log.warn({ jobId: run.id, err }, "A job could not be freed: it waits for the end of its lease"),
    );
  };

  return {
    wake,
    async tick() {
      await fill();
      if (clock.now() < tidyAt) return;
      tidyAt = clock.now() + hourMs;
      await forgetFailed(database, clock.now());
    },
    async work() {
      for (;;) {
        await fill();
        if (running.size === 0) return;
        await Promise.race([...running.values()].map(({ ended }) => ended));
      }
    },
    async stop(graceMs) {
      stopping = true;
      cancelTimer();
      const grace = Promise.withResolvers<void>();
      const cancel = clock.after(graceMs, grace.resolve);
      await filling?.catch(() => {});
      const ended = Promise.all([...running.values()].map((run) => run.ended));
      await Promise.race([ended, graceMs === 0 ? undefined : grace.promise]);
      cancel();
      await Promise.all([...running.values()].map(free));
    },
  };
}
