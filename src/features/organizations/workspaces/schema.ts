import { z } from "@hono/zod-openapi";
import { Name, organizationPath, Timestamp } from "../../../http/shapes.ts";
import { memberPath } from "../members/schema.ts";

const workspaceId = z.string().openapi({ description: "The workspace's id." });
export const workspacePath = organizationPath.extend({ workspaceId });
export const workspaceMemberPath = memberPath.extend({ workspaceId });

export const WorkspaceName = z
  .object({
    name: Name.openapi({ description: "Unique in the organization, whatever its case.", example: "Support" }),
  })
  .openapi("WorkspaceName");
export type WorkspaceName = z.infer<typeof WorkspaceName>;

const uuid = z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" });

export const Workspace = z
  .object({
    id: uuid,
    name: z.string().openapi({ example: "Support" }),
    agentCount: z.int().openapi({ description: "Agents in it, inactive ones too.", example: 3 }),
    memberCount: z.int().openapi({
      description: "Users with an entry of their own. Owners and Admins reach every workspace without one.",
      example: 5,
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Workspace");
export type Workspace = z.infer<typeof Workspace>;

export const WorkspaceAnswer = z.object({ workspace: Workspace }).openapi("WorkspaceAnswer");
export const Workspaces = z.object({ workspaces: z.array(Workspace) }).openapi("Workspaces");
