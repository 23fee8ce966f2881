import type { Contribution } from "../../contribution.ts";
import type { Wake } from "./import.ts";
import { createBundleRoutes } from "./routes.ts";

/** Agents as files: `GET /api/instances/{slug}/export`, and the imports. */
export const bundlesFeature = (wake: Wake): Contribution => ({ routes: [createBundleRoutes(wake)] });
