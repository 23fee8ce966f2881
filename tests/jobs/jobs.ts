import { asc } from "drizzle-orm";
import { onTestFinished } from "vitest";
import { unmeasured } from "../../src/core/meters.ts";
import { localNotify } from "../../src/core/notify.ts";
import type { Clock, Log, Notify } from "../../src/core/ports.ts";
import type { Database } from "../../src/db/client.ts";
import { jobs } from "../../src/db/schema.ts";
import type { JobHandler, JobKind, JobKinds } from "../../src/jobs/attempt.ts";
import { enqueue, type NewJob } from "../../src/jobs/enqueue.ts";
import { Heartbeat } from "../../src/jobs/heartbeat.ts";
import { createWorker } from "../../src/jobs/worker.ts";
import { TestClock } from "../clock.ts";
import { openTestDatabase } from "../database.ts";

interface Line {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  [field: string]: unknown;
}

/** A log that keeps its lines with their fields. */
function keepLines(): { log: Log; lines: Line[] } {
  const lines: Line[] = [];
  const keep = (level: Line["level"]) => (fields: Record<string, unknown>, message: string) =>
    void lines.push({ ...fields, level, message });
  const log: Log = {
    debug: keep("debug"),
    info: keep("info"),
    warn: keep("warn"),
    error: keep("error"),
    child: () => log,
  };
  return { log, lines };
}

/** A job without a key that is due at once. */
export const newJob = (kind: string): NewJob => ({ kind, key: null, payload: {}, runAt: new Date(0) });

/** The handler of the only kind. */
export function handlerOf(kinds: JobKinds): JobHandler {
  const [kind] = Object.values(kinds);
  if (!kind) throw new Error("There is no kind");
  return kind.run;
}

interface Options extends Partial<Pick<NewJob, "key" | "runAt">> {
  organizationId?: string;
  maxAttempts?: number;
}

/** Jobs on an empty database, under a clock of the test's, and workers for them. With one `notify` they wake each other. */
export async function jobHarness(given?: Database, givenNotify?: Notify) {
  const { database, close } = given ? { database: given, close: async () => {} } : await openTestDatabase();
  onTestFinished(close);
  const clock = new TestClock();
  const { log, lines } = keepLines();
  const notify = givenNotify ?? localNotify(log);
  const beats = new Set<Promise<void>>();
  /** A worker with a heartbeat every 5 seconds of its clock. */
  const worker = (kinds: Readonly<Record<string, JobHandler | JobKind>>, own: Clock = clock) => {
    const heartbeat = new Heartbeat({ clock: own });
    // Like the statement about channels, by which a process without jobs notices an outage.
    heartbeat.add(async () => void (await database.query("select 1", [])));
    keepBeating(heartbeat, own, beats);
    const made = createWorker(
      { database, clock: own, log, notify, meters: unmeasured, heartbeat },
      Object.fromEntries(Object.entries(kinds).map(asKind)),
    );
    onTestFinished(() => made.stop(0));
    return made;
  };
  return {
    database,
    clock,
    lines,
    worker,
    enqueue: (kind: string, payload: object = {}, { organizationId, maxAttempts = 10, ...job }: Options = {}) =>
      enqueue(database.db, { ...newJob(kind), payload, ...job }, { organizationId, maxAttempts }),
    rows: () => database.db.select().from(jobs).orderBy(asc(jobs.id)),
    at: (ms: number) => new Date(clock.now() + ms),
    /** Moves the clock from heartbeat to heartbeat, and waits for the end of each. */
    beat: async (times = 1) => {
      for (let beat = 0; beat < times; beat += 1) {
        await clock.advance(beatMs);
        await Promise.all(beats);
      }
    },
    /** Lets time pass for the leases of jobs, which use the clock of the database. */
    age: (ms: number) =>
      database.query("update jobs set locked_until = locked_until - $1::int * interval '1 ms'", [ms]),
    /** The remaining milliseconds of the jobs' leases, the longest first. */
    left: async () => {
      const rows = await database.query<{ ms: number }>(
        "select (extract(epoch from locked_until - now()) * 1000)::float8 as ms from jobs where locked_until is not null order by 1 desc",
        [],
      );
      return rows.map(({ ms }) => ms);
    },
  };
}

export const beatMs = 5_000;

function keepBeating(heartbeat: Heartbeat, clock: Clock, beats: Set<Promise<void>>): void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(beatMs, () => {
      const beat = heartbeat
        .beat()
        .catch(() => {})
        .finally(() => beats.delete(beat));
      beats.add(beat);
      next();
    });
  };
  next();
  onTestFinished(() => cancel());
}

const asKind = ([name, kind]: [string, JobHandler | JobKind]): [string, JobKind] => [
  name,
  typeof kind === "function" ? { run: kind } : kind,
];

/** A handler whose jobs run until the test ends them, and their organizations' letters in the order of beginning. */
export function stall() {
  const began: string[] = [];
  const running: { letter: string; end: () => void }[] = [];
  return {
    began,
    running: () => running.map(({ letter }) => letter).toSorted(),
    run: ({ payload }: { payload: unknown }) => {
      const { letter = "" } = payload as { letter?: string };
      began.push(letter);
      return new Promise<void>((resolve) => void running.push({ letter, end: resolve }));
    },
    /** Ends the job that has run longest, of this organization if one is given. */
    end: (letter?: string) => {
      const index = running.findIndex((one) => letter === undefined || one.letter === letter);
      for (const one of running.splice(index, 1)) one.end();
    },
  };
}

/** A handler that waits until the test releases it, and reports its beginning. */
export function gate() {
  const opened = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let count = 0;
  return {
    handler: async () => {
      count += 1;
      begun.resolve();
      await opened.promise;
    },
    begun: begun.promise,
    open: () => opened.resolve(),
    count: () => count,
  };
}
