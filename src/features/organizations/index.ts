import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { invitations } from "../../db/schema.ts";
import type { BeforeDelete } from "../agents/index.ts";
import { organizationJobs } from "./delete.ts";
import { invitationMails } from "./invitations/mail.ts";
import { invitationRoutes } from "./invitations/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { memberRoutes } from "./members/routes.ts";
import { roleRoutes } from "./roles/routes.ts";
import { organizationRoutes } from "./routes.ts";
import { workspaceRoutes } from "./workspaces/routes.ts";

/** A management key for one command that this machine's operator runs. */
export { issueOperatorKey } from "./keys/operator.ts";
/** The other Owners of an organization who may sign in. */
export { otherOwners } from "./members/owners.ts";
/** A workspace that the caller reaches, and its path; throws the 404. */
export { workspacePath } from "./workspaces/schema.ts";
export { findWorkspace } from "./workspaces/service.ts";
/** Changes an organization's own data, under its lock. */
export { lockOrganization, writeOrganization } from "./write.ts";

/**
 * `/api/organizations`, with their members, roles, invitations, workspaces and management keys, the mails of invitations,
 * and the deletion of expired ones and of deleted organizations.
 */
export function organizationsFeature(services: Services, beforeAgentDelete: BeforeDelete): Contribution {
  return {
    routes: [organizationRoutes, memberRoutes, roleRoutes, invitationRoutes, workspaceRoutes, keyRoutes],
    jobs: { ...invitationMails(services), ...organizationJobs(services, beforeAgentDelete) },
    oldRows: [{ table: invitations, since: invitations.expiresAt, afterMs: 0 }],
  };
}
