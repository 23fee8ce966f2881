import { z } from "@hono/zod-openapi";
import { organizationPath, skillPath } from "../schema.ts";

const workspaceId = z.string().openapi({ description: "Id of the workspace." });
export const workspacePath = organizationPath.extend({ workspaceId });
export const allowPath = skillPath.extend({ workspaceId });

export const AllowedSkills = z
  .object({ skills: z.array(z.string()).openapi({ description: "Slugs.", example: ["refunds"] }) })
  .openapi("AllowedSkills");

export const Allowed = z.object({ allowed: z.literal(true) }).openapi("Allowed");
