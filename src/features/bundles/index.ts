import type { Contribution } from "../../contribution.ts";
import { bundleRoutes } from "./routes.ts";

/** Agents as files: `GET /api/instances/{slug}/export`. */
export const bundlesFeature: Contribution = { routes: [bundleRoutes] };
