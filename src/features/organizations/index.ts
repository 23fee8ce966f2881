import type { Contribution } from "../../contribution.ts";
import { keyRoutes } from "./keys/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { organizationRoutes } from "./routes.ts";
import { workspaceRoutes } from "./workspaces/routes.ts";

/** `/api/organizations`, with their members, workspaces and management keys. */
export const organizationsFeature: Contribution = {
  routes: [organizationRoutes, memberRoutes, workspaceRoutes, keyRoutes],
};
