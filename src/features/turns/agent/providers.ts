import type { Services } from "../../../context/ctx.ts";
import { fromBase64 } from "../../../core/ids.ts";
import { type KnownConnection, type ModelFacts, unconfigured } from "../../../core/models/facts.ts";
import type { StoredProviders } from "../../../db/agent-providers.ts";
import { openKey } from "../../providers/index.ts";

/** A connection with its key. */
interface Connection extends KnownConnection {
  /** Null: the provider's own address. */
  baseUrl: string | null;
  apiKey: string | null;
}

/** The bindings of an agent, its connections and the admission of its workspace. */
export interface AgentProviders extends Pick<ModelFacts, "bindings" | "admission"> {
  connections: readonly Connection[];
}

/** Opens the keys of an agent's connections. A connection whose key can't be opened counts as one without a key. */
export async function openProviders(
  services: Pick<Services, "cipher" | "log">,
  { bindings, connections, admission }: StoredProviders,
): Promise<AgentProviders> {
  return {
    bindings: Object.fromEntries((bindings ?? []).map(({ role, ...binding }) => [role, binding])),
    connections: await Promise.all((connections ?? []).map((connection) => opened(services, connection))),
    admission: admission ?? unconfigured.admission,
  };
}

type Stored = NonNullable<StoredProviders["connections"]>[number];

async function opened(
  services: Pick<Services, "cipher" | "log">,
  { keyId, ciphertext, ...connection }: Stored,
): Promise<Connection> {
  const { id, baseUrl } = connection;
  const apiKey = await openKey(services, {
    id,
    keyId,
    ciphertext: ciphertext === null ? null : fromBase64(ciphertext),
  });
  if (keyId !== null && apiKey === null) {
    services.log.warn({ connectionId: id }, "The key of a provider connection can't be opened");
  }
  return { ...connection, apiKey, hasKey: apiKey !== null, hasAddress: baseUrl !== null };
}
