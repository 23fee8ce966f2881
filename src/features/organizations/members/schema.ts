import { z } from "@hono/zod-openapi";
import { roleKeys } from "../../../core/credentials/permissions.ts";
import { ChosenPassword, Email, Name, organizationPath } from "../../../http/shapes.ts";

export const memberPath = organizationPath.extend({
  userId: z.string().openapi({ description: "Id of a member of the organization." }),
});

const unknownRole = `must be one of ${roleKeys.join(", ")}`;

const Role = z
  .string({ error: unknownRole })
  .regex(/^[a-z][a-z0-9-]{1,39}$/, unknownRole)
  .openapi({
    description:
      "`owner`, `admin`, `member`, `viewer`, or the key of one of the organization's own roles. Only an Owner may make, change or remove an Owner; a management key makes none. Nobody gives a role with a permission that they lack.",
    example: "member",
  });

export const NewMember = z
  .object({
    email: Email,
    name: Name.optional().openapi({
      description: "For a new account; the part of the e-mail before `@` when absent.",
      example: "Ada",
    }),
    roleKey: Role,
    password: ChosenPassword.optional().openapi({ description: "For a new account; generated when absent." }),
  })
  .openapi("NewMember");
export type NewMember = z.infer<typeof NewMember>;

export const RoleAssignment = z.object({ roleKey: Role }).openapi("RoleAssignment");

const member = {
  userId: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
  email: z.string().openapi({ example: "ada@example.com" }),
  name: z.string().openapi({ example: "Ada" }),
  roleKey: z
    .string()
    .openapi({ description: "owner, admin, member, viewer, or the key of a custom role.", example: "member" }),
};

export const Member = z
  .object({
    ...member,
    passwordPending: z.literal(true).optional().openapi({
      description:
        "Whoever added this person to an organization still knows the password: better no Owner before it is changed. Absent otherwise.",
    }),
  })
  .openapi("Member");
export type Member = z.infer<typeof Member>;

export const Members = z.object({ members: z.array(Member) }).openapi("Members");

export const AddedMember = z
  .object({
    ...member,
    password: z.string().optional().openapi({
      description: "Only when it was generated for a new account. It is shown here and never again.",
      example: "mB0q3s9Zt1XcWv7K",
    }),
  })
  .openapi("AddedMember");
export type AddedMember = z.infer<typeof AddedMember>;

export const RenewedPassword = z
  .object({
    password: z.string().openapi({
      description: "Shown here and never again.",
      example: "mB0q3s9Zt1XcWv7K",
    }),
    sessionsEnded: z.int().openapi({ description: "How many sessions the member had.", example: 1 }),
  })
  .openapi("RenewedPassword");
export type RenewedPassword = z.infer<typeof RenewedPassword>;

export const Assigned = z.object({ assigned: z.literal(true) }).openapi("Assigned");
export const Removed = z.object({ removed: z.literal(true) }).openapi("Removed");
