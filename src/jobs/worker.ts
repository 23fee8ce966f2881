import type { Services } from "../context/ctx.ts";
import { newId } from "../core/ids.ts";
import { Rounds } from "../core/limits/rounds.ts";
import { Rest } from "../core/time/rest.ts";
import { attempt, type JobKinds } from "./attempt.ts";
import { type ClaimedJob, claim, type InLane, isAnyLeft } from "./claim.ts";
import { failedJobs } from "./failed.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { deleteOldRows } from "./old-rows.ts";
import { createSettling, type JobClaim, renew } from "./queue.ts";
import { createSettle, sayFailed } from "./settle.ts";
import { createSlots } from "./slots.ts";

export interface Worker {
  /**
   * Tells the worker that a job may be due, now or at this time (milliseconds since the epoch). Call it after the
   * commit that enqueued the job.
   */
  wake(at?: number): void;
  /**
   * Starts the due jobs, whichever process enqueued them. From the first call on it also starts jobs that other
   * replicas have no slots for. Call it every 10 seconds.
   */
  tick(): Promise<void>;
  /** Runs the due jobs until none is left. */
  work(): Promise<void>;
  /** The number of running jobs of a kind in this process. */
  running(kind: string): number;
  /** Takes no more jobs, lets running ones finish within `graceMs`, and frees the rest for other processes. */
  stop(graceMs: number): Promise<void>;
}

type WorkerServices = Pick<Services, "database" | "clock" | "log" | "notify" | "meters"> & { heartbeat: Heartbeat };

interface Running extends JobClaim, InLane {
  /** False once another process took over the job, or it was freed. */
  ours: boolean;
  controller: AbortController;
  ended: Promise<void>;
}

/** Jobs that are due later are found by the next `tick`. */
const horizonMs = 10_000;
const restMs = 1_000;
/** The least time between a claim and the next one by the timer. */
const gatherMs = 250;
/** Freed slots are filled once they are this fraction of the running jobs. */
const freedPart = 1 / 8;
/** Longer than a notification takes to all replicas: otherwise replicas without slots would wake each other forever. */
const quietMs = 1_000;

/** Runs the jobs of these kinds, within each kind's limit. */
export function createWorker(services: WorkerServices, kinds: JobKinds): Worker {
  const { database, clock, log, notify, heartbeat } = services;
  const slots = createSlots(kinds);
  const running = new Map<string, Running>();
  const settling = createSettling(services);
  const settle = createSettle(services, Object.keys(kinds), settling);
  let stopping = false;
  let cancelTimer = () => {};
  /** When the timer wakes the worker. Before that the worker does not use the database. */
  let timerAt = Number.POSITIVE_INFINITY;
  /** When the last job was claimed. */
  let takenAt = Number.NEGATIVE_INFINITY;
  /** The number of jobs that ended since the last claim. */
  let freed = 0;
  /** The number of jobs that this worker started. */
  let begun = 0;
  const quiet = new Rest(clock);
  let endListening: (() => void) | null = null;

  /** Claims due jobs for the free slots. */
  const claiming = new Rounds(async () => {
    if (stopping) return;
    freed = 0;
    const jobs = [...running.values()];
    const free = slots.free(jobs);
    if (free.length > 0) {
      const [lock, now] = [newId(), clock.now()];
      const takesOver = heartbeat.mayTakeOver;
      const asked = { slots: free, running: jobs, takesOver, lock, now };
      const { claimed, dead, nextAt } = await claim(database, asked);
      slots.served(claimed);
      for (const job of dead) sayFailed(log, job);
      // A job that waited for a dead one with its key may run now.
      if (dead.length > 0) claiming.again();
      for (const job of claimed) start(job, lock);
      // When a claim fills all free slots of a kind, more is claimed. One claim is small: a turn may have to wait for it.
      if (free.some((one) => claimed.filter(({ kind }) => kind === one.kind).length === one.free)) claiming.again();
      if (claimed.length > 0) takenAt = clock.now();
      if (nextAt !== null) wakeAt(nextAt);
    }
    if (slots.short([...running.values()])) await announceLeft();
  });

  /** Wakes other replicas for due jobs that this process has no slots for. */
  const announceLeft = async () => {
    if (!quiet.isOver || !(await isAnyLeft(database, Object.keys(kinds), clock.now()))) return;
    quiet.begin(quietMs);
    notify.publish("work-due", "");
  };

  const wakeAt = (wanted: number) => {
    // Jobs that become due soon after a claim are claimed together.
    const at = Math.max(wanted, takenAt + gatherMs);
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
    claiming.run().catch((err: unknown) => {
      log.warn({ err }, "Jobs could not be claimed");
      wakeAt(clock.now() + restMs);
    });
  };

  const start = (job: ClaimedJob, lock: string) => {
    const { id, kind, lane } = job;
    const controller = new AbortController();
    const run: Running = { id, kind, lane, lock, ours: true, controller, ended: Promise.resolve() };
    running.set(job.id, run);
    begun += 1;
    run.ended = perform(job, run).finally(() => {
      forget(run);
      freed += 1;
      if (freed >= running.size * freedPart) wake();
    });
  };

  const perform = async (job: ClaimedJob, run: Running) => {
    const { id: jobId, kind } = job;
    const problem = await attempt({ clock, kinds }, job, run.controller);
    if (!run.ours) return;
    try {
      const settled = await settle(job, run, problem);
      if (!settled && run.ours) log.warn({ jobId, kind }, "A job was taken over before it ended");
    } catch (err) {
      if (run.ours) log.error({ jobId, kind, err }, "How a job ended could not be noted");
    }
  };

  const forget = (run: Running) => {
    if (running.get(run.id) === run) running.delete(run.id);
  };

  heartbeat.add(async () => {
    const asked = [...running.values()];
    if (asked.length === 0) return;
    const held = await renew(database, asked);
    for (const [index, run] of asked.entries()) if (!held[index]) drop(run, "The job was taken over");
  });

  const drop = (run: Running, reason: string) => {
    // A job that ended meanwhile has no lease any more.
    if (running.get(run.id) !== run) return;
    run.ours = false;
    forget(run);
    run.controller.abort(new Error(reason));
  };

  const free = async (run: Running) => {
    drop(run, "The server is stopping");
    const { id, lock } = run;
    await settling
      .setBack({ id, lock, runAt: null, error: null, counts: false })
      .catch((err: unknown) =>
        log.warn({ jobId: run.id, err }, "A job could not be freed: it waits for the end of its lease"),
      );
  };

  const deletions = deleteOldRows(services, [failedJobs]);

  return {
    wake,
    running: (kind) => [...running.values()].filter((run) => run.kind === kind).length,
    async tick() {
      // A command of the command line never calls `tick`: it ends too soon to take other processes' jobs.
      if (!stopping) endListening ??= notify.listen("work-due", () => wake());
      await claiming.run();
      for (const deleteOld of deletions) await deleteOld();
    },
    async work() {
      for (;;) {
        const before = begun;
        await claiming.run();
        // A job may start and end within the rounds, and its end requests rounds of its own.
        if (running.size > 0) await Promise.race([...running.values()].map(({ ended }) => ended));
        else if (begun === before) return;
      }
    },
    async stop(graceMs) {
      stopping = true;
      endListening?.();
      cancelTimer();
      const grace = Promise.withResolvers<void>();
      const cancel = clock.after(graceMs, grace.resolve);
      await claiming.ended();
      const ended = Promise.all([...running.values()].map((run) => run.ended));
      await Promise.race([ended, graceMs === 0 ? undefined : grace.promise]);
      cancel();
      await Promise.all([...running.values()].map(free));
    },
  };
}
