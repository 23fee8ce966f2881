import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { admissionRoutes } from "./admission/routes.ts";
import { privateRoutes, sharedRoutes } from "./connections/routes.ts";
import { convertSecrets } from "./convert/convert.ts";
import { noteFallbacks } from "./fallbacks.ts";
import { priceRoutes } from "./prices/routes.ts";
import { roleRoutes } from "./roles/routes.ts";

/** The key of a connection, for the calls of an agent's models. */
export { openKey } from "./connections/store.ts";
/** Agents that can't answer, for their lists and for `doctor`. */
export { defaultProvider, inspectProviders, type ProvidersReport, providerProblems } from "./inspect.ts";
export { currencyOf, pricesOfOrganization } from "./prices/service.ts";

/**
 * Model providers in the managed edition: connections of organizations and agents, what a workspace admits of them, the
 * roles that agents bind to them, the prices of their models, and what tells of fallbacks. At a start, provider keys among
 * agents' secrets become connections: after the encryption key is verified and the policies are loaded.
 */
export function providersFeature(services: Services): Contribution {
  const isOn = services.options.edition.has("providers");
  noteFallbacks(services);
  return {
    routes: [sharedRoutes, privateRoutes, admissionRoutes, roleRoutes, priceRoutes],
    ...(isOn ? { boot: () => convertSecrets(services) } : {}),
  };
}
