import type {
  NewProviderConnection,
  ProviderConnection,
  ProviderConnectionChanges,
  ProviderConnectionTest,
} from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import type { Permission } from "../../data/session.ts";

/** The requests about the connections of one owner. */
export interface ConnectionSource {
  /** Whether they are the organization's, and not an agent's. */
  shared: boolean;
  /** The permission to change them. */
  to: Permission;
  list(): Promise<{ connections: ProviderConnection[] }>;
  create(body: NewProviderConnection): Promise<unknown>;
  update(id: string, body: ProviderConnectionChanges): Promise<unknown>;
  delete(id: string): Promise<unknown>;
  test(id: string): Promise<ProviderConnectionTest>;
}

/** The connections that all agents of an organization can use. */
export const sharedConnections = (orgSlug: string): ConnectionSource => ({
  shared: true,
  to: "org.secret:write",
  list: () => api.listSharedConnections({ orgSlug }),
  create: (body) => api.createSharedConnection({ orgSlug, body }),
  update: (id, body) => api.updateSharedConnection({ orgSlug, id, body }),
  delete: (id) => api.deleteSharedConnection({ orgSlug, id }),
  test: (id) => api.testSharedConnection({ orgSlug, id }),
});

/** The connections of one agent. */
export const privateConnections = (slug: string): ConnectionSource => ({
  shared: false,
  to: "agent.secret:write",
  list: () => api.listPrivateConnections({ slug }),
  create: (body) => api.createPrivateConnection({ slug, body }),
  update: (id, body) => api.updatePrivateConnection({ slug, id, body }),
  delete: (id) => api.deletePrivateConnection({ slug, id }),
  test: (id) => api.testPrivateConnection({ slug, id }),
});
