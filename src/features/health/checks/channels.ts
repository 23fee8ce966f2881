import { type Check, ok, warn } from "../../../core/check.ts";
import type { TroubledChannel } from "../../channels/index.ts";
import { named } from "./named.ts";

/** Checks for channels whose messengers refuse them, or refused what was last sent. `now` is in milliseconds since the epoch. */
export function checkChannels(channels: readonly TroubledChannel[], now: number): Check {
  const name = "channels";
  if (channels.length === 0) return ok(name, "No messenger refuses one");
  const failing = channels.filter(({ isFailing }) => isFailing);
  const others = channels.filter(({ isFailing }) => !isFailing);
  const told = (some: readonly TroubledChannel[]) =>
    named(some.map(({ slug, type, error, since }) => `${type} of ${slug}${age(since, now)} (${error})`));
  const parts = [
    ...(failing.length > 0 ? [`Failing: ${told(failing)}`] : []),
    ...(others.length > 0 ? [`Not delivered lately: ${told(others)}`] : []),
  ];
  return warn(name, `${parts.join(". ")}. Mend what the messenger names; each PUT of a channel starts it again`);
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** For how long, such as ` for 3 days`; nothing where that is not known. */
function age(since: Date | null, now: number): string {
  if (since === null) return "";
  const ms = Math.max(0, now - since.getTime());
  for (const [unit, length] of units) {
    const count = Math.floor(ms / length);
    if (count > 0) return ` for ${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  return " since a moment ago";
}
