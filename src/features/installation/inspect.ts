import type { Services } from "../../context.ts";
import { type Policies, readPolicies } from "../../core/policies.ts";
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

interface Row {
  policies: Record<string, unknown> | null;
  organizations: number;
  endlessKeys: number;
  openAgents: number;
}

/** Reads what `doctor` judges, in one query. Changes nothing. */
export async function inspectSettings({ database }: Services): Promise<SettingsReport> {
  const [row] = await database.query<Row>(
    `select (select policies from installation where id = 1) as policies,
       (select count(*)::int from organizations) as organizations,
       (select count(*)::int from access_tokens where kind = 'management' and expires_at is null) as "endlessKeys",
       (select count(*)::int from agents a join channels c on c.agent_id = a.id and c.type = 'web' and c.enabled
        where a.active and not a.auth_enabled) as "openAgents"`,
    [],
  );
  if (!row) throw new Error("The query for the settings returned no row");
  const { policies } = readPolicies(row.policies ?? {});
  const { organizations, endlessKeys, openAgents } = row;
  const sensitiveHosts = policies.httpAllowedHosts.filter(isSensitiveHost);
  return { policies, sensitiveHosts, organizations, endlessKeys, openAgents };
}
