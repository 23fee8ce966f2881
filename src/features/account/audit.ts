import { asc, eq } from "drizzle-orm";
import { audit } from "../../context/audit.ts";
import { clip, storable } from "../../core/text/text.ts";
import type { Db } from "../../db/client.ts";
import { members } from "../../db/schema.ts";

/** The person who acted. */
interface Person {
  id: string;
  name: string;
}

interface Event {
  action: string;
  target: string;
  /** Null: a caller without an account, or the installation itself. */
  actor: Person | null;
  request: { id: string; ip: string; userAgent?: string };
  /**
   * The organizations whose logs get the event; empty for an event of the installation. Only the first log contains the
   * address, because any organization may add an existing account.
   */
  organizationIds: readonly string[];
  success?: boolean;
  summary?: Record<string, unknown>;
}

/** Writes an audit entry into each log, for events that change no configuration: signing in and out, setting up. */
export async function recordEvent(db: Db, { actor, organizationIds, request, ...event }: Event): Promise<void> {
  const { userAgent = "", ...call } = request;
  const client = userAgent === "" ? {} : { userAgent: clip(storable(userAgent), 512) };
  const entry = {
    ...event,
    actor: actor
      ? ({ type: "user", id: actor.id, name: actor.name } as const)
      : ({ type: "system", id: null, name: null } as const),
  };
  const [first = null, ...others] = organizationIds;
  const whole = { ...entry, organizationId: first, request: call, summary: { ...event.summary, ...client } };
  const withheld = { ...entry, request: { id: call.id, ip: "" } };
  await audit(db, whole, ...others.map((organizationId) => ({ ...withheld, organizationId })));
}

/** Sorts the oldest membership first: usually that of the organization that created the account. */
export const oldestFirst = [asc(members.createdAt), asc(members.organizationId)];

/** The organizations of a user, in the order of joining. Their logs show the account's events. */
export async function organizationsOf(db: Db, userId: string): Promise<string[]> {
  const rows = await db
    .select({ id: members.organizationId })
    .from(members)
    .where(eq(members.userId, userId))
    .orderBy(...oldestFirst);
  return rows.map(({ id }) => id);
}
