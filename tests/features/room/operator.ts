import { asc, eq } from "drizzle-orm";
import { expect } from "vitest";
import type { JsonValue } from "../../../src/core/json.ts";
import { agents, auditLogs, rooms } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";
import { eventOf } from "./backlog/rooms.ts";

export type Json = Record<string, unknown>;
type Headers = Record<string, string>;

/** An agent of a person who may change its Room, and calls of the Room's routes as that person. */
export async function withAgent() {
  const h = await harness();
  const { slug, headers } = await h.agent();
  const { db } = h.services.database;
  const [agent] = await db.select().from(agents).where(eq(agents.slug, slug));
  if (!agent) throw new Error("There is no agent");
  const url = `/api/instances/${slug}/room`;
  const call = (method: string, path = "", json?: unknown, as: Headers = headers) =>
    h.request(url + path, { method, headers: as, ...(json === undefined ? {} : { json }) });
  const put = async (json: Json) => {
    const response = await call("PUT", "", json);
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
  };
  const get = async () => (await call("GET")).json() as Promise<Json>;
  const stored = async () => (await db.select().from(rooms))[0];
  const { add: addAt, definitionId } = await eventOf(h.services.database, {
    agentId: agent.id,
    organizationId: agent.organizationId,
  });
  /** Adds an entry to the backlog. */
  const add = (payload?: JsonValue) => addAt(h.clock.now(), payload);
  const audited = async () => {
    const rows = await db.select().from(auditLogs).orderBy(asc(auditLogs.createdAt), asc(auditLogs.id));
    return rows
      .filter(({ action }) => action.startsWith("agent.room."))
      .map(({ action, summary }) => [action, summary]);
  };
  return { ...h, db, slug, agentRow: agent, headers, definitionId, call, put, get, stored, add, audited };
}

export const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message;
