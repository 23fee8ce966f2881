import { createServer } from "node:net";
import { eq } from "drizzle-orm";
import { onTestFinished } from "vitest";
import { readPolicies } from "../../../src/core/policies.ts";
import { agents } from "../../../src/db/schema.ts";
import { harness, managedEdition } from "../../harness.ts";
import type { Headers } from "../organizations/callers.ts";

export const apiKey = "sk-connection-0123-85a5";
export const hint = "••••85a5";

/** The managed edition with an agent, and calls of an Owner. */
export async function withProviders(options: Parameters<typeof harness>[0] = {}) {
  const h = await harness({ edition: managedEdition, ...options });
  const owner = await h.as("owner");
  const { slug } = await h.agent({ provider: null, model: null });
  const shared = "/api/organizations/acme/provider-connections";
  const own = `/api/instances/${slug}/provider-connections`;
  const send = (method: string, path: string, json?: unknown, headers: Headers = owner) =>
    h.request(path, { method, headers, ...(json === undefined ? {} : { json }) });
  const answer = async (response: Promise<Response>) => {
    const { status, ok } = await response;
    const body = await (await response).json();
    if (!ok) throw new Error(`${status}: ${body.message}`);
    return body;
  };
  return {
    ...h,
    owner,
    slug,
    shared,
    own,
    send,
    answer,
    /** Makes a connection, and returns it. */
    async connect(path: string, fields: Record<string, unknown> = {}) {
      const json = { name: "OpenAI", provider: "openai", apiKey, ...fields };
      return (await answer(send("POST", path, json))).connection;
    },
    /** Limits the agent's workspace. */
    admit: (json: Record<string, unknown>) =>
      answer(send("PUT", `/api/organizations/acme/workspaces/${h.organization.workspaceId}/providers`, json)),
    role: async (name: string) =>
      (await answer(send("GET", `/api/instances/${slug}/provider-roles`))).roles.find(
        ({ role }: { role: string }) => role === name,
      ),
    bind: (role: string, json: Record<string, unknown>) =>
      send("PUT", `/api/instances/${slug}/provider-roles/${role}`, json),
    list: async (path: string) => (await answer(send("GET", path))).connections,
    async revision(of = slug): Promise<number> {
      const [row] = await h.services.database.db.select().from(agents).where(eq(agents.slug, of));
      return row?.revision ?? 0;
    },
    allowHosts: (...httpAllowedHosts: string[]) => h.services.policies.set(readPolicies({ httpAllowedHosts }).policies),
  };
}

export type Providers = Awaited<ReturnType<typeof withProviders>>;

/** A port of the loopback that takes connections and never answers. */
export async function silentHost(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (!address || typeof address === "string") throw new Error("The server has no port");
  return `127.0.0.1:${address.port}`;
}
