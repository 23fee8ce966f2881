import { z } from "@hono/zod-openapi";
import { permissions, withheldPermissions } from "../../../core/credentials/permissions.ts";
import { zText } from "../../../core/text/text.ts";
import { organizationPath, Permissions } from "../../../http/shapes.ts";

export const rolePath = organizationPath.extend({
  key: z.string().openapi({ description: "The role's key.", example: "auditor" }),
});

const fields = {
  name: zText(64).trim().min(1, "must not be empty").openapi({ example: "Auditor" }),
  permissions: Permissions.max(permissions.length).openapi({
    description: `Its permissions; never ${withheldPermissions.map((one) => `\`${one}\``).join(", ")}.`,
    example: ["audit_log:read", "org:read"],
  }),
  allWorkspaces: z.boolean().optional().openapi({
    description: "Whether the role reaches every workspace; false when absent: those that the member was added to.",
    example: true,
  }),
};

export const RoleChanges = z.object(fields).openapi("RoleChanges");
export type RoleChanges = z.infer<typeof RoleChanges>;

export const NewRole = z
  .object({
    key: z
      .string()
      .regex(/^[a-z][a-z0-9-]{1,39}$/, "must be 2 to 40 lower-case letters, digits or dashes, and begin with a letter")
      .openapi({ example: "auditor" }),
    ...fields,
  })
  .openapi("NewRole");
export type NewRole = z.infer<typeof NewRole>;

export const Role = z
  .object({
    key: z.string().openapi({ example: "auditor" }),
    name: z.string().openapi({ example: "Auditor" }),
    permissions: Permissions.openapi({ example: ["audit_log:read", "org:read"] }),
    allWorkspaces: z.boolean().openapi({ description: "Whether it reaches every workspace." }),
    builtin: z.boolean().openapi({ description: "Whether every organization has it: it can't be changed." }),
    holders: z.int().openapi({ description: "How many members have it.", example: 2 }),
  })
  .openapi("Role");
export type Role = z.infer<typeof Role>;

export const RoleAnswer = z.object({ role: Role }).openapi("RoleAnswer");
export const Roles = z.object({ roles: z.array(Role) }).openapi("Roles");
