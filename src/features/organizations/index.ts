import { router } from "../../http/route.ts";
import { keyRoutes } from "./keys/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { organizationRoutes as ownRoutes } from "./routes.ts";
import { workspaceRoutes } from "./workspaces/routes.ts";

/** `/api/organizations`, with their members, workspaces and management keys. */
export const organizationRoutes = router()
  .route("/", ownRoutes)
  .route("/", memberRoutes)
  .route("/", workspaceRoutes)
  .route("/", keyRoutes);
