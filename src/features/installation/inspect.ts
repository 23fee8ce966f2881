import { and, eq, isNull } from "drizzle-orm";
import type { Services } from "../../context/ctx.ts";
import { type Policies, readPolicies } from "../../core/policies.ts";
import { accessTokens, agents, channels, installation, organizations } from "../../db/schema.ts";
import { isSensitiveHost } from "./rules.ts";

/** Settings that an operator may want to tighten. */
export interface SettingsReport {
  policies: Policies;
  /** The hosts in `httpAllowedHosts` that are this machine, or addresses under which clouds offer credentials. */
  sensitiveHosts: string[];
  organizations: number;
  /** Management keys without expiry. */
  endlessKeys: number;
  /** The slugs of active agents that anybody may use: Web is on and requires no key. */
  openAgents: string[];
  /** The open agents with a budget for each end user, but no total budget. */
  unboundedAgents: string[];
}

/** Reads the settings that `doctor` checks. Changes nothing. */
export async function inspectSettings({ database: { db } }: Services): Promise<SettingsReport> {
  const [stored] = await db
    .select({ policies: installation.policies })
    .from(installation)
    .where(eq(installation.id, 1));
  const { policies } = readPolicies(stored?.policies ?? {});
  const open = await db
    .select({ slug: agents.slug, ofUser: agents.userMonthlyTokenBudget, ofAll: agents.monthlyTokenBudget })
    .from(agents)
    .innerJoin(channels, eq(channels.agentId, agents.id))
    .where(
      and(eq(channels.type, "web"), eq(channels.enabled, true), eq(agents.active, true), eq(agents.authEnabled, false)),
    )
    .orderBy(agents.slug);
  return {
    policies,
    sensitiveHosts: policies.httpAllowedHosts.filter(isSensitiveHost),
    organizations: await db.$count(organizations),
    endlessKeys: await db.$count(
      accessTokens,
      and(eq(accessTokens.kind, "management"), isNull(accessTokens.expiresAt)),
    ),
    openAgents: open.map(({ slug }) => slug),
    unboundedAgents: open.filter(({ ofUser, ofAll }) => ofUser !== null && ofAll === null).map(({ slug }) => slug),
  };
}
