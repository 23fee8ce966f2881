import { orgSlug } from "../../data/session.ts";
import { ListPage } from "../../ui/list/list.tsx";
import { useConnections } from "./connections.tsx";
import { sharedConnections } from "./source.ts";

/** The provider connections that an organization shares with its agents. */
export function ProvidersPage() {
  const slug = orgSlug.value;
  return (
    <ListPage
      title="Providers"
      lead="Connections to the providers of models. Each agent chooses in its tab Models which of them answer for it."
      empty={[
        "No connections yet",
        "A connection is a provider with its key. The default one answers for all agents that choose none.",
      ]}
      {...useConnections(sharedConnections(slug), [slug])}
    />
  );
}
