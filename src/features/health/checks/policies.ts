import { isUnencrypted } from "../../../core/addresses.ts";
import { type Check, ok, warn } from "../../../core/check.ts";
import { defaultPolicies, type Policies } from "../../../core/policies.ts";
import type { SettingsReport } from "../../installation/index.ts";
import type { SecretsReport } from "../../secrets/index.ts";
import { named } from "./named.ts";

/** A check for each stored setting that could be stricter, or one that says there is none. */
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

/** A check for agents whose keys were stored before keys had a least length. */
export function checkAgentKeys({ shortKeys }: Pick<SecretsReport, "shortKeys">): Check[] {
  if (shortKeys.length === 0) return [];
  return [
    warn(
      "agent keys",
      `${named(shortKeys)}: the API key has fewer than 16 characters and can be guessed; store another`,
    ),
  ];
}
