import { router } from "../../http/route.ts";
import { keyRoutes } from "./key-routes.ts";
import { memberRoutes } from "./member-routes.ts";
import { organizationRoutes as ownRoutes } from "./organization-routes.ts";
import { workspaceRoutes } from "./workspace-routes.ts";

/** `/api/organizations` with all that they hold: members, workspaces, management keys. */
export const organizationRoutes = router()
  .route("/", ownRoutes)
  .route("/", memberRoutes)
  .route("/", workspaceRoutes)
  .route("/", keyRoutes);
