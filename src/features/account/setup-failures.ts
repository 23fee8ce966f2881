import type { Services } from "../../context.ts";
import { countCall, type Limit } from "../../http/throttle.ts";
import { recordEvent } from "./audit.ts";

/** Nobody needs a name to try links: the log must not grow with every try. */
const noted: Limit = { calls: 1, windowMs: 60_000 };

/** Notes in the installation's log that somebody tried a setup link that is none, at most once a minute. */
export async function recordFailedSetup(
  services: Services,
  request: { id: string; ip: string; userAgent?: string },
): Promise<void> {
  const { allowed } = await countCall(services, "setup-failure", noted);
  if (!allowed) return;
  await recordEvent(services.database.db, {
    action: "installation.setup",
    actor: null,
    target: "setup link",
    request,
    organizationIds: [],
    success: false,
  });
}
