import type { Clock } from "../../core/ports.ts";
import type { Tool } from "../../turn/types.ts";
import { currentTime } from "./builtin.ts";

/** The tool `currentTime` of an agent whose time zone is `home`. */
export function currentTimeTool(clock: Clock, home: string): Tool {
  return currentTime.implement(async ({ timezone = home }) => {
    const now = new Date(clock.now());
    return { utc: now.toISOString(), local: localTime(now, timezone), timezone };
  });
}

/** A time as people of a zone say it, with the name of the zone. Throws an `Error` for an unknown one. */
export function localTime(now: Date, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long", timeZone }).format(now);
  } catch {
    throw new Error(`There is no time zone ${timeZone}: give an IANA name such as Europe/Zurich`);
  }
}
