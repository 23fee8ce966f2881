import { newId } from "../core/ids.ts";
import type { Db } from "../db/client.ts";
import { auditLogs } from "../db/schema.ts";
import type { Actor, UserActor } from "./ctx.ts";

/** An entry for the audit log. */
export interface AuditEvent {
  /** The entry's id, for a caller that changes its own entry later; a new one when absent. */
  id?: string;
  /** `<noun>.<verb>`, as in the audit log. */
  action: string;
  /** The name of the changed object, as users see it. */
  target: string;
  agentId?: string;
  /** Contains no values of secrets, and nothing that is stored sealed. */
  summary?: Record<string, unknown>;
  /** Null for an event of the installation, or of a person without an account. */
  organizationId: string | null;
  /** With a personal token, `summary` names it. For an impersonation, the impersonator is the actor, and `summary` names the user. */
  actor: Pick<Actor, "type"> & { id: string | null; name: string | null } & Pick<
      Partial<UserActor>,
      "tokenId" | "token" | "impersonator"
    >;
  success?: boolean;
  request: { id: string; ip: string };
}

/** Stores audit entries in one statement. Changes of the configuration use `write` instead. */
export async function audit(db: Db, ...events: [AuditEvent, ...AuditEvent[]]): Promise<void> {
  const rows = events.map(({ actor, request, ...event }) => {
    const { id = newId(), organizationId, action, target, agentId = null, success = true } = event;
    const { impersonator, tokenId } = actor;
    const token = actor.token ? { token: { id: tokenId, name: actor.token.name } } : {};
    const user = impersonator ? { user: { id: actor.id, name: actor.name } } : {};
    const { id: actorId, name: actorName } = impersonator ?? actor;
    return {
      id,
      organizationId,
      actorType: actor.type,
      actorId,
      actorName,
      action,
      target,
      agentId,
      success,
      summary: { ...event.summary, ...token, ...user },
      ip: request.ip,
      requestId: request.id,
    };
  });
  await db.insert(auditLogs).values(rows);
}
