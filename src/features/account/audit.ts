import { audit } from "../../context.ts";
import type { Db } from "../../db/client.ts";

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
export function recordEvent(db: Db, { actor, organizationId = null, ...event }: Event): Promise<void> {
  const who = actor ? ({ type: "user", ...actor } as const) : ({ type: "system", id: null, name: null } as const);
  return audit(db, { ...event, organizationId, actor: who });
}
