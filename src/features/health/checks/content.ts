import { type Check, ok, warn } from "../../../core/check.ts";
import type { Inspection } from "../inspect.ts";
import { checkChannels } from "./channels.ts";
import { checkFiles } from "./files.ts";
import { checkJobs } from "./jobs.ts";
import { checkMessages } from "./messages.ts";
import { checkAgentKeys, checkPolicies } from "./policies.ts";
import { checkKey, checkShortSecrets } from "./secrets.ts";

/** Judges what the database holds. `command` is how this program is called. */
export function checkContent(
  { secrets, owned, settings, jobs, messages, channels, files, now }: Inspection,
  command: string,
): Check[] {
  const owner = owned
    ? ok("owner", "There is one")
    : warn("owner", "Nobody owns this installation yet: start the server and open the link that it prints");
  return [
    ...[checkKey(secrets, command), ...checkShortSecrets(secrets), owner, ...checkPolicies(settings)],
    ...[...checkAgentKeys(secrets), checkJobs(jobs), checkMessages(messages), checkChannels(channels, now)],
    checkFiles(files, settings.policies),
  ];
}
