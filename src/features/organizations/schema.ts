import { z } from "@hono/zod-openapi";
import { Email, Name, OrganizationSlug, Timestamp } from "../../http/shapes.ts";

const DisplayName = Name.openapi({ description: "What people call it.", example: "Acme" });

export const NewOrganization = z
  .object({
    slug: OrganizationSlug.openapi({ example: "acme" }),
    name: DisplayName.optional().openapi({ description: "The slug when absent.", example: "Acme" }),
    ownerEmail: Email.optional().openapi({
      description: "Account that owns it; the caller when absent.",
    }),
  })
  .openapi("NewOrganization");
export type NewOrganization = z.infer<typeof NewOrganization>;

export const OrganizationChanges = z
  .object({
    name: DisplayName.optional(),
    slug: OrganizationSlug.optional().openapi({
      description: "The old slug is free at once: paths and headers that use it answer 404.",
      example: "acme",
    }),
  })
  .openapi("OrganizationChanges");
export type OrganizationChanges = z.infer<typeof OrganizationChanges>;

export const OrganizationDeletion = z
  .object({ confirm: z.string().openapi({ description: "The organization's slug.", example: "acme" }) })
  .openapi("OrganizationDeletion");
export type OrganizationDeletion = z.infer<typeof OrganizationDeletion>;

export const Organization = z
  .object({
    id: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
    slug: z.string().openapi({ example: "default" }),
    name: z.string().openapi({ example: "default" }),
    roleKey: z.string().nullable().openapi({
      description:
        "The caller's role in it. Null for a Platform Admin who is no member, and in the answer to creating one for somebody else.",
      example: "owner",
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("Organization");
export type Organization = z.infer<typeof Organization>;

export const OrganizationAnswer = z.object({ organization: Organization }).openapi("OrganizationAnswer");
export const Organizations = z.object({ organizations: z.array(Organization) }).openapi("Organizations");
