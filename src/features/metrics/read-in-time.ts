import type { Services } from "../../context/ctx.ts";
import { sharedRead } from "../../core/limits/shared-read.ts";
import { withinTime } from "../../core/time/deadline.ts";

/** In milliseconds. Monitoring needs a response soon, even without the numbers of the database. */
const patienceMs = 3_000;

const tooLate = () => new Error("The database did not answer in time");

/** Reads the database at most once in `freshMs`. Returns null, and logs that, when it does not answer in time. */
export function readInTime<T>(
  { clock, log }: Pick<Services, "clock" | "log">,
  { freshMs, failure }: { freshMs: number; failure: string },
  read: () => Promise<T>,
): () => Promise<T | null> {
  return sharedRead({ clock, freshMs, onFailure: (err) => log.warn({ err }, failure) }, () =>
    withinTime(clock, patienceMs, tooLate(), read),
  );
}
