import type { Services } from "../../context/ctx.ts";
import { sharedRead } from "../../core/queues/shared-read.ts";
import { withinTime } from "../../core/time/deadline.ts";

/** Monitoring wants an answer soon, also one without the numbers of the database. In milliseconds. */
const patienceMs = 3_000;

const tooLate = () => new Error("The database did not answer in time");

/** Reads the database once in `freshMs`, however many ask; null where it does not answer in time, which the log tells. */
export function readInTime<T>(
  { clock, log }: Pick<Services, "clock" | "log">,
  { freshMs, failure }: { freshMs: number; failure: string },
  read: () => Promise<T>,
): () => Promise<T | null> {
  return sharedRead({ clock, freshMs, onFailure: (err) => log.warn({ err }, failure) }, () =>
    withinTime(clock, patienceMs, tooLate(), read),
  );
}
