import { newId } from "../../core/ids.ts";
import type { Db } from "../../db/client.ts";
import { auditLogs } from "../../db/schema.ts";

interface Event {
  action: string;
  /** Null: somebody without an account. */
  actor: { id: string; name: string } | null;
  target: string;
  request: { id: string; ip: string };
  organizationId?: string | null;
  success?: boolean;
}

/** An audit entry of what happens outside any configuration: signing in and out, setting up. */
export async function recordEvent(db: Db, event: Event): Promise<void> {
  const { action, actor, target, request, organizationId = null, success = true } = event;
  await db.insert(auditLogs).values({
    id: newId(),
    organizationId,
    actorType: actor ? "user" : "system",
    actorId: actor?.id ?? null,
    actorName: actor?.name ?? null,
    action,
    target,
    success,
    ip: request.ip,
    requestId: request.id,
  });
}
