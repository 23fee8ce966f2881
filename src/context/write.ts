import { eq, sql } from "drizzle-orm";
import type { Changes } from "../core/changes.ts";
import type { Db } from "../db/client.ts";
import { unlessDeadlocked } from "../db/retry.ts";
import { agents } from "../db/schema.ts";
import { type AuditEvent, audit } from "./audit.ts";
import type { Ctx } from "./ctx.ts";
import { requireStanding } from "./standing.ts";

/** A change, with the fields of its audit entry. */
interface Change extends Pick<AuditEvent, "action" | "target" | "agentId" | "summary"> {
  /** Whether the agent is only named in the audit entry: its revision stays, so that no process loads it again. */
  agentUnchanged?: boolean;
  /** An update adds the changed fields, but never a secret. If this stays empty, nothing changed and there is no entry. */
  changes?: Changes;
  /** For changes that `changes` can't show. Called after `fn`: whether nothing changed, so there is no entry. */
  unchanged?: () => boolean;
  /**
   * The organizations whose logs get the entry, read after `fn`; null for the log of the installation. By default the
   * request's organization.
   */
  logs?: () => readonly (string | null)[];
  /** Takes the lock of simultaneous changes. Runs before the caller's rights are read: they may be revoked meanwhile. */
  lock?: (tx: Db) => Promise<void>;
}

/**
 * Every change of the configuration goes through this: one transaction for the change, its audit entry and the agent's
 * next revision, which caches compare. `fn` may use only `tx`. Repeated after a deadlock (`unlessDeadlocked`).
 */
export async function write<T>(ctx: Ctx, change: Change, fn: (tx: Db) => Promise<T>): Promise<T> {
  const result = await unlessDeadlocked(() => writeOnce(ctx, change, fn));
  // After the commit: copies that other processes load from now on include the change.
  if (!change.agentUnchanged) ctx.notify.publish("agent-changed", change.agentId ?? ctx.membership.organizationId);
  return result;
}

async function writeOnce<T>(ctx: Ctx, change: Change, fn: (tx: Db) => Promise<T>): Promise<T> {
  const { actor, membership, request } = ctx;
  return ctx.database.transaction(async (tx) => {
    const { changes, unchanged = () => isEmpty(changes), lock, logs, summary, ...entry } = change;
    await lock?.(tx);
    await requireStanding(tx, ctx);
    // The changes that an earlier attempt of this transaction noted may not be true any more.
    for (const field of Object.keys(changes ?? {})) delete changes?.[field];
    const result = await fn(tx);
    if (change.agentId && !change.agentUnchanged) {
      const changed = { revision: sql`${agents.revision} + 1`, updatedAt: sql`now()` };
      await tx.update(agents).set(changed).where(eq(agents.id, change.agentId));
    }
    if (unchanged()) return result;
    const told = { ...summary, ...(changes ? { changes } : {}) };
    const inLog = (organizationId: string | null) => ({ ...entry, summary: told, actor, request, organizationId });
    const [first = membership.organizationId, ...others] = logs?.() ?? [];
    await audit(tx, inLog(first), ...others.map(inLog));
    return result;
  });
}

const isEmpty = (changes: Changes | undefined) => changes !== undefined && Object.keys(changes).length === 0;

/**
 * The log of a change of the whole installation, for `logs`. A Platform Admin may make it while another organization is
 * chosen, whose members must not read it.
 */
export const installationLog = ({ membership: { first, organizationId } }: Ctx) => [first ? organizationId : null];
