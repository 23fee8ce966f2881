import type { Contribution } from "../../contribution.ts";
import { userRoutes } from "./routes.ts";

/** The users of the installation, for Platform Admins: `/api/users`. */
export const usersFeature: Contribution = { routes: [userRoutes] };
