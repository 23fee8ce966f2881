import { and, eq, isNull, not, sql } from "drizzle-orm";
import type { Services } from "../../context.ts";
import { type Policies, readPolicies } from "../../core/policies.ts";
import { fields, type RowOf } from "../../db/fragments.ts";
import { accessTokens, agents, channels, installation, organizations } from "../../db/schema.ts";
import { statement } from "../../db/statement.ts";
import { isSensitiveHost } from "./rules.ts";

/** What an operator may want to set more strictly. */
export interface SettingsReport {
  policies: Policies;
  /** Of `httpAllowedHosts`: this machine, and addresses where clouds keep credentials. */
  sensitiveHosts: string[];
  organizations: number;
  /** Management keys that never end. */
  endlessKeys: number;
  /** Active agents that anybody may talk to: Web is on and no key is asked for. */
  openAgents: number;
}

/** What of the stored settings `inspectSettings` looks at. */
const settings = statement({}, () => {
  const { policies, id } = installation;
  const endless = and(eq(accessTokens.kind, "management"), isNull(accessTokens.expiresAt));
  const web = and(eq(channels.agentId, agents.id), eq(channels.type, "web"), channels.enabled);
  const open = and(agents.active, not(agents.authEnabled));
  const row = fields({
    policies: sql<Record<string, unknown> | null>`(select ${policies} from ${installation} where ${id} = 1)`,
    organizations: sql<number>`(select count(*)::int from ${organizations})`,
    endlessKeys: sql<number>`(select count(*)::int from ${accessTokens} where ${endless})`,
    openAgents: sql<number>`(select count(*)::int from ${agents} join ${channels} on ${web} where ${open})`,
  });
  return sql<RowOf<typeof row>>`select ${row}`;
});

/** Reads what `doctor` judges, in one query. Changes nothing. */
export async function inspectSettings({ database }: Services): Promise<SettingsReport> {
  const [row] = await settings.run(database, {});
  if (!row) throw new Error("The query for the settings returned no row");
  const { policies } = readPolicies(row.policies ?? {});
  const { organizations, endlessKeys, openAgents } = row;
  const sensitiveHosts = policies.httpAllowedHosts.filter(isSensitiveHost);
  return { policies, sensitiveHosts, organizations, endlessKeys, openAgents };
}
