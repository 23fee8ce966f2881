import { type Check, ok, warn } from "../../../core/check.ts";
import type { MessagesReport } from "../../inbox/index.ts";

/** Checks for messages of the last 24 hours that were given up. */
export function checkMessages({ unanswered, unsent, lastUnsent }: MessagesReport): Check {
  const name = "messages";
  const counts = [
    ...(unanswered > 0 ? [`${messages(unanswered)} could not be answered`] : []),
    ...(unsent > 0 ? [`${messages(unsent)} could not be sent${exampleOf(lastUnsent)}`] : []),
  ];
  if (counts.length === 0) return ok(name, "None was given up in the last 24 hours");
  const advice =
    "GET /api/instances/{slug}/channels/{type}/messages?status=failed says why, and its retry tries one again";
  return warn(name, `In the last 24 hours ${counts.join(", and ")}: ${advice}`);
}

const exampleOf = (last: MessagesReport["lastUnsent"]) =>
  last === null ? "" : ` (the last one on ${last.channel} of ${last.slug}: ${last.error})`;

const messages = (count: number) => `${count} ${count === 1 ? "message" : "messages"}`;
