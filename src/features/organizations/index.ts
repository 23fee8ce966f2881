/** Organizations and all that they hold: members, workspaces, management keys. */

/** `/api/organizations/{orgSlug}/management-keys`. */
export { keyRoutes as organizationRoutes } from "./key-routes.ts";
