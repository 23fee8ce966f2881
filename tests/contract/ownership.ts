import type { Case } from "./cases.ts";
import { isWrite } from "./document.ts";
import type { Change, Row } from "./rows.ts";

/** Columns that no request changes in an existing row, unless its route says so by name. */
const identity = new Set([
  ...["id", "organization_id", "workspace_id", "agent_id", "user_id", "conversation_id", "skill_id"],
  ...["created_at", "created_by", "kind", "digest", "legacy_hash", "prefix", "active_organization_id"],
  ...["auth_key_hmac", "password_hash", "role_key", "slug", "revision", "key_check", "key_check_key_id"],
  ...["is_platform_admin", "active", "deleted_at", "scope", "permissions"],
]);

/** Columns that authentication and `write` change themselves. */
const usual = new Set([
  "access_tokens.last_used_at",
  "access_tokens.expires_at",
  "agents.revision",
  "agents.updated_at",
]);

interface Boundary {
  /** The agent that the requests were addressed to, if any. */
  agentId: unknown;
  /** Ids of other owners' objects. */
  foreign: readonly string[];
}

/** The changes of a route beyond its own, in words. */
export function trespasses(one: Case, changes: readonly Change[], { agentId, foreign }: Boundary): string[] {
  const owns = new Set(one.entry.owns);
  return changes.flatMap(({ table, before, after, columns }): string[] => {
    const label = `${one.name}: ${table}`;
    const theirs = intrusions([{ table, before, after, columns }], foreign);
    if (theirs.length > 0) return theirs.map((words) => `${one.name}: ${words}`);
    if (!before && table === "audit_logs" && (isWrite(one) || one.entry.audited)) return [];
    const row = before ?? after;
    // Rows that belong to a conversation or to a job of it do not name its agent.
    const nameless = owns.has(table) && row && table !== "agents" && !("agent_id" in row);
    const elsewhere = one.entry.scope === "agent" && row && !nameless && agentOf(table, row) !== agentId;
    if (elsewhere) return [`${label} of another agent: ${columns} ${JSON.stringify(row)}`];
    if (!before || !after)
      return owns.has(table) ? [] : [`${label}: ${before ? "lost" : "got"} ${JSON.stringify(row)}`];
    return columns
      .filter((column) => !usual.has(`${table}.${column}`) && !owns.has(`${table}.${column}`))
      .filter((column) => !owns.has(table) || identity.has(column))
      .map((column) => `${label}.${column}: ${JSON.stringify(before[column])} → ${JSON.stringify(after[column])}`);
  });
}

/** The other owners' rows that were added, deleted or changed, in words. */
export function intrusions(changes: readonly Change[], foreign: readonly string[]): string[] {
  return changes
    .filter(({ before, after }) => [before, after].some((row) => row && namesAny(row, foreign)))
    .map(({ table, before, after }) => `${table} of others: ${JSON.stringify(before)} → ${JSON.stringify(after)}`);
}

/** Whether a column, other than a user's text, contains one of the ids. */
const namesAny = (row: Row, ids: readonly string[]) =>
  Object.values(row).some((value) => typeof value === "string" && ids.includes(value));

const agentOf = (table: string, row: Row) => (table === "agents" ? row.id : row.agent_id);
