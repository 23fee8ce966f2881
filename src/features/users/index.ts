import type { Contribution } from "../../contribution.ts";
import { impersonationRoutes } from "./impersonation/routes.ts";
import { userRoutes } from "./routes.ts";

/** The users of the installation, for Platform Admins, and their impersonation: `/api/users`. */
export const usersFeature: Contribution = { routes: [userRoutes, impersonationRoutes] };
