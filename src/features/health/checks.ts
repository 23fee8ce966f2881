import { isUnencrypted } from "../../core/addresses.ts";
import { type Check, fail, ok, warn } from "../../core/check.ts";
import { defaultPolicies, type Policies } from "../../core/policies.ts";
import type { JobsReport } from "../../jobs/failed.ts";
import type { TroubledChannel } from "../channels/index.ts";
import { type FilesReport, megabyte } from "../files/index.ts";
import type { MessagesReport } from "../inbox/index.ts";
import type { SettingsReport } from "../installation/index.ts";
import type { SchedulerHealth } from "../room/index.ts";
import type { SecretsReport } from "../secrets/index.ts";
import type { BudgetsReport } from "../turns/index.ts";
import { checkConnections, checkPrices } from "./check-providers.ts";
import type { Inspection } from "./inspect.ts";
import { named } from "./named.ts";

/** Names the database by its `server_version_num`, such as 150004. `at` is its host; null for the embedded one. */
export function checkDatabase(version: number, at: string | null): Check {
  const server = `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`;
  return ok("database", at === null ? `Embedded, ${server}` : `${server} at ${at}`);
}

/** Checks the content of the database. `command` is this program's name in hints. */
export function checkContent(
  { secrets, owned, settings, jobs, messages, channels, files, budgets, providers, now }: Inspection,
  command: string,
): Check[] {
  const owner = owned
    ? ok("owner", "There is one")
    : warn("owner", "Nobody owns this installation yet: start the server and open the link that it prints");
  return [
    ...[checkKey(secrets, command), ...checkShortSecrets(secrets), owner, ...checkPolicies(settings)],
    ...[...checkAgentKeys(secrets), checkJobs(jobs), checkMessages(messages), checkChannels(channels, now)],
    ...[checkFiles(files, settings.policies), checkBudgets(budgets)],
    ...[...checkPrices(providers), ...checkConnections(providers)],
  ];
}

/** Checks whether the encryption key opens the stored secrets. `command` is this program's name in hints. */
function checkKey({ key, sealed, older }: SecretsReport, command: string): Check {
  const name = "encryption key";
  if (key === "wrong") {
    const advice = "set that one, or name it in ENCRYPTION_KEY_PREVIOUS";
    return fail(name, `Not the key that this database's secrets were sealed with: ${advice}`);
  }
  if (key === "unused") return ok(name, "Nothing is sealed yet");
  if (older > 0)
    return warn(name, `${older} of ${sealed} values are sealed with an earlier key: run ${command} rotate-key`);
  return ok(name, `Opens what is stored; ${sealed} ${sealed === 1 ? "value is" : "values are"} sealed with it`);
}

/** Warns of secrets that are too short to be hidden in replies. */
function checkShortSecrets({ short }: SecretsReport): Check[] {
  if (short.length === 0) return [];
  return [
    warn(
      "secrets",
      `Too short to be kept out of replies, in ${named(short)}: store secrets and variables of at least 6 characters instead`,
    ),
  ];
}

/** Warns of background work that failed for good in the last 24 hours and will probably fail again. */
export function checkJobs({ pending, failed, failedLately, newest }: JobsReport): Check {
  const name = "background work";
  const [last] = newest;
  if (failedLately === 0 || !last) {
    const earlier = failed === 0 ? "Nothing failed" : `Nothing failed in the last 24 hours, ${failed} before`;
    return ok(name, `${earlier}; ${pending} ${pending === 1 ? "job waits" : "jobs wait"}`);
  }
  const count = `${failedLately} ${failedLately === 1 ? "job" : "jobs"} failed for good in the last 24 hours`;
  const { kind, attempts, failedAt, error } = last;
  const example = `${kind} at ${failedAt}, tried ${attempts} times: ${error.replaceAll(/\s+/g, " ")}`;
  return fail(
    name,
    `${count}, the last one ${example}. Mend the cause; the log has a line "A job failed for good" for each`,
  );
}

/** Warns of messages that were given up in the last 24 hours. */
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

/**
 * Warns of channels whose messenger refuses the account, or refused the last message. `now` is in milliseconds since
 * the epoch.
 */
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

/** A duration such as ` for 3 days`; empty when unknown. */
function age(since: Date | null, now: number): string {
  if (since === null) return "";
  const ms = Math.max(0, now - since.getTime());
  for (const [unit, length] of units) {
    const count = Math.floor(ms / length);
    if (count > 0) return ` for ${count} ${unit}${count === 1 ? "" : "s"}`;
  }
  return " since a moment ago";
}

/** The share of `fileMegabytes` from which on a warning appears. */
const near = 0.9;

const megabytes = (bytes: number) => Math.ceil(bytes / megabyte);

/** Warns of agents whose files nearly fill their space on this machine. */
function checkFiles(
  { byStore, inDirectory }: FilesReport,
  { fileMegabytes: { total } }: Pick<Policies, "fileMegabytes">,
): Check {
  const name = "files";
  const [fullest] = inDirectory;
  if (!fullest) return ok(name, "None is stored on this machine");
  const told = ({ slug, bytes }: typeof fullest) => `${slug} has ${megabytes(bytes)} of ${total} MB`;
  const full = inDirectory.filter(({ bytes }) => bytes >= near * total * megabyte);
  if (full.length > 0) {
    const advice = "delete conversations, give the agent a bucket in S3, or raise the policy fileMegabytes";
    return warn(name, `${named(full.map(told))}, and what would make more is refused: ${advice}`);
  }
  return ok(name, `${megabytes(byStore.directory)} MB are on this machine; of the agents, ${told(fullest)}, the most`);
}

/** Warns of agents whose budgets hold tokens or money for no running call. */
export function checkBudgets({ tokens, cost, slugs }: BudgetsReport): Check {
  const name = "budgets";
  if (tokens === 0 && cost === 0) return ok(name, "All held tokens belong to running calls");
  const advice = "the server releases them within the hour; if they come back, report it";
  const held = [tokens === 0 ? [] : `${tokens} tokens`, cost === 0 ? [] : `${cost} micros`].flat().join(" and ");
  return warn(name, `${named(slugs)}: ${held} of the month are held for no running call: ${advice}`);
}

/** Checks whether this process looks for due work, and whether started work ends. */
export function checkScheduler({ status, stuckRuns, lastTickAt }: SchedulerHealth): Check {
  const name = "scheduler";
  if (status === "stalled") {
    const since = lastTickAt === null ? "since its start" : `since ${lastTickAt}`;
    return fail(name, `Due work of Rooms and tasks is not looked for ${since}: see the log, then restart the server`);
  }
  if (stuckRuns !== null && stuckRuns > 0) {
    const runs = `${stuckRuns} ${stuckRuns === 1 ? "run" : "runs"}`;
    return warn(name, `Of ${runs} the process has been silent for over a minute: see whether every replica still runs`);
  }
  return ok(name, "Due work of Rooms and tasks is looked for");
}

/** One check for each stored setting that could be stricter, or a single check when there is none. */
export function checkPolicies(stored: SettingsReport): Check[] {
  const weak = [
    ...address(stored.policies),
    ...environmentKeys(stored),
    ...rateLimit(stored.policies),
    ...allowedHosts(stored.sensitiveHosts),
    ...managementKeys(stored.endlessKeys),
    ...openAgents(stored.openAgents),
    ...unboundedAgents(stored.unboundedAgents),
  ];
  return weak.length > 0 ? weak : [ok("policies", "Nothing is weak, in management keys and agents either")];
}

function address({ publicAddress }: Policies): Check[] {
  if (publicAddress === null || !isUnencrypted(publicAddress)) return [];
  return [
    warn(
      "policies",
      `publicAddress is ${publicAddress}, unencrypted: put a proxy with TLS in front and set it to https`,
    ),
  ];
}

function environmentKeys({ policies, organizations }: SettingsReport): Check[] {
  if (policies.environmentKeys !== "all" || organizations < 2) return [];
  const advice = "if that is not meant, set it to first-organization or none";
  return [
    warn(
      "policies",
      `environmentKeys is all: ${organizations} organizations use the server's provider keys; ${advice}`,
    ),
  ];
}

const perSecond = ({ limit, windowSeconds }: Policies["rateLimit"]) => limit / windowSeconds;

function rateLimit({ rateLimit: policy }: Policies): Check[] {
  const usual = defaultPolicies.rateLimit;
  if (perSecond(policy) <= 10 * perSecond(usual)) return [];
  const inForce = `${policy.limit} calls in ${policy.windowSeconds} s`;
  const advice = `lower it toward the default, ${usual.limit} in ${usual.windowSeconds} s`;
  return [warn("policies", `rateLimit is ${inForce}, which slows nobody down who tries keys: ${advice}`)];
}

function allowedHosts(hosts: readonly string[]): Check[] {
  if (hosts.length === 0) return [];
  const advice = "take out what no tool needs";
  return [
    warn(
      "policies",
      `httpAllowedHosts lets tools reach this machine or a cloud's credentials (${hosts.join(", ")}): ${advice}`,
    ),
  ];
}

function managementKeys(count: number): Check[] {
  if (count === 0) return [];
  const subject = count === 1 ? "1 key never expires" : `${count} keys never expire`;
  const advice = "issue new ones with expiresAt, then delete these";
  return [warn("management keys", `${subject}: ${advice} (/api/organizations/{orgSlug}/management-keys)`)];
}

function openAgents(slugs: readonly string[]): Check[] {
  if (slugs.length === 0) return [];
  return [
    warn(
      "open agents",
      `${named(slugs)}: anybody may talk to them, with Web on and authEnabled false, and go on with any of their conversations whose chat_id is known; if that is not meant, turn authEnabled on`,
    ),
  ];
}

function unboundedAgents(slugs: readonly string[]): Check[] {
  if (slugs.length === 0) return [];
  return [
    warn(
      "open agents",
      `${named(slugs)}: userMonthlyTokenBudget limits nobody who needs no key, since each chat_id has a budget of its own; set monthlyTokenBudget too`,
    ),
  ];
}

/** Warns of agents' keys that are older than the rule for their length, and too short for it. */
export function checkAgentKeys({ shortKeys }: Pick<SecretsReport, "shortKeys">): Check[] {
  if (shortKeys.length === 0) return [];
  return [
    warn(
      "agent keys",
      `${named(shortKeys)}: the API key has fewer than 16 characters and can be guessed; store another`,
    ),
  ];
}
