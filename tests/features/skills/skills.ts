import { and, eq } from "drizzle-orm";
import { agents, agentTools } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";

export type Headers = Record<string, string>;
export type Fields = Record<string, unknown>;

export const catalogue = "/api/organizations/acme/skills";

export const refunds = {
  name: "Refunds",
  description: "How to answer on refunds.",
  content: "# Refunds\n\n---\nname: Other\n---\nAsk for the order.",
};

/** A harness, its Owner, and short forms of requests. */
export async function kitchen() {
  const h = await harness();
  const headers = await h.as("owner");
  const send = (method: string, path: string, json?: unknown, as: Headers = headers) =>
    h.request(path, { method, headers: as, ...(json === undefined ? {} : { json }) });
  const create = (fields: Fields = {}) => send("POST", catalogue, { ...refunds, ...fields });
  const allow = (slug: string) =>
    send("PUT", `/api/organizations/acme/workspaces/${h.organization.workspaceId}/skills/${slug}`);
  const disallow = (slug: string) =>
    send("DELETE", `/api/organizations/acme/workspaces/${h.organization.workspaceId}/skills/${slug}`);
  const enable = (agent: string, enabled: unknown) => send("PATCH", `/api/instances/${agent}/skills`, { enabled });
  const agent = (slug: string) => send("POST", "/api/instances", { slug });
  /** Creates a skill and allows it, so that agents can enable it. */
  const offer = async (fields: Fields = {}) => {
    const { slug } = await read<{ slug: string }>(create(fields));
    await allow(slug);
    return slug;
  };
  return { h, headers, send, create, allow, disallow, enable, agent, offer };
}

/** The body of a successful answer. */
export async function read<T = Fields>(answer: Response | Promise<Response>): Promise<T> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

export interface Refusal {
  statusCode: number;
  message: string;
  issues?: { path: string; message: string }[];
}

/** Status and message of a refusal. */
export async function refusal(answer: Response | Promise<Response>): Promise<[number, string]> {
  const response = await answer;
  return [response.status, ((await response.json()) as Refusal).message];
}

export async function agentRow(h: Harness, slug: string) {
  const [row] = await h.services.database.db.select().from(agents).where(eq(agents.slug, slug));
  if (!row) throw new Error("No such agent");
  return row;
}

/** An agent's tools of source `skill`. */
export async function skillTools(h: Harness, slug: string): Promise<string[]> {
  const { id } = await agentRow(h, slug);
  const rows = await h.services.database.db
    .select()
    .from(agentTools)
    .where(and(eq(agentTools.agentId, id), eq(agentTools.source, "skill")));
  return rows.map(({ name }) => name).sort();
}
