import { eq } from "drizzle-orm";
import { expect } from "vitest";
import type { RoleKey } from "../../../../src/core/credentials/permissions.ts";
import { agents, auditLogs } from "../../../../src/db/schema.ts";
import { harness } from "../../../harness.ts";

export type Json = Record<string, unknown>;
export interface Address {
  id: string;
  webhookToken: string;
  webhookUrl: string;
}

/** Two agents, `one` and `two`, and calls of their event sources; as the owner unless told otherwise. */
export async function withSources() {
  const h = await harness();
  const { db } = h.services.database;
  const owner = await h.as("owner");
  for (const slug of ["one", "two"]) {
    await h.request("/api/instances", { method: "POST", headers: owner, json: { slug } });
  }
  const call = async (method: string, path: string, json?: unknown, headers = owner) => {
    const url = `/api/instances/${path}`;
    const response = await h.request(url, { method, headers, ...(json === undefined ? {} : { json }) });
    return { status: response.status, body: (await response.json()) as Json };
  };
  const good = async <Body>(status: number, ...request: Parameters<typeof call>) => {
    const answer = await call(...request);
    expect(answer).toMatchObject({ status });
    return answer.body as unknown as Body;
  };
  const create = (json: Json = {}, slug = "one") =>
    good<Address>(201, "POST", `${slug}/event-sources`, { name: "Issues", sourceType: "webhook", ...json });
  const define = (source: string, json: Json = {}, slug = "one") =>
    good<Json & { id: string }>(201, "POST", `${slug}/event-sources/${source}/definitions`, {
      name: "Bugs",
      matchingPrompt: "A bug",
      action: "backlog",
      ...json,
    });
  const list = (slug = "one", headers = owner) => good<Json[]>(200, "GET", `${slug}/event-sources`, undefined, headers);
  const as = (role: RoleKey) => h.as(role);
  const revision = async () => (await db.select().from(agents).where(eq(agents.slug, "one")))[0]?.revision;
  /** The audit entries of sources and definitions, in order. */
  const entries = async () => {
    const rows = await db.select().from(auditLogs).orderBy(auditLogs.createdAt, auditLogs.id);
    return rows.filter(({ action }) => action.startsWith("agent.event-"));
  };
  return { ...h, db, call, good, create, define, list, as, revision, entries };
}
