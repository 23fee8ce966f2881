import { asc, eq } from "drizzle-orm";
import { newWebhookToken, sealCredentials } from "../../../src/core/credentials/event-source.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, eventSources, jobs, roomEvents } from "../../../src/db/schema.ts";
import { matchJob } from "../../../src/features/room/ledger/store.ts";
import { type Harness, harness } from "../../harness.ts";

interface Fields {
  enabled?: boolean;
  authKey?: string;
}

/** Stores an event source of an agent; answers its id and the token of its webhook. */
export async function sourceOf({ services }: Pick<Harness, "services">, slug: string, fields: Fields = {}) {
  const { db } = services.database;
  const [agent] = await db.select().from(agents).where(eq(agents.slug, slug));
  if (!agent) throw new Error(`There is no agent ${slug}`);
  const { id: agentId, organizationId } = agent;
  const { enabled = true, ...more } = fields;
  const credentials = { ...more, webhookToken: newWebhookToken() };
  const id = newId();
  const sealed = await sealCredentials(services.cipher, id, credentials);
  await db
    .insert(eventSources)
    .values({ ...sealed, id, agentId, organizationId, name: "Shop", sourceType: "webhook", enabled });
  return { id, agentId, organizationId, token: credentials.webhookToken };
}

/** An agent with a source whose events match no definition. */
export async function sending(fields: Fields & Parameters<typeof harness>[0] = {}) {
  const { enabled, authKey, ...options } = fields;
  const h = await harness(options);
  const agent = await h.agent();
  // No job begins any more, so that events stay as stored.
  await h.engine.stop(0);
  const source = await sourceOf(h, agent.slug, {
    ...(enabled === undefined ? {} : { enabled }),
    ...(authKey === undefined ? {} : { authKey }),
  });
  const { db } = h.services.database;
  const post = async (body: BodyInit, headers: Record<string, string> = {}, token = source.token) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json", ...headers }, body, duplex: "half" };
    const response = await h.request(`/webhooks/${token}`, init as RequestInit);
    return [response.status, await response.json()] as const;
  };
  const rows = () => db.select().from(roomEvents).orderBy(asc(roomEvents.id));
  const work = () => db.select().from(jobs).where(eq(jobs.kind, matchJob.kind));
  return { ...h, agent, makeAgent: h.agent, source, db, post, rows, work };
}
