import type { Contribution } from "../../contribution.ts";
import { priceRoutes } from "./prices/routes.ts";

/** `/api/organizations/{orgSlug}/model-prices`. */
export const providersFeature: Contribution = { routes: [priceRoutes] };
