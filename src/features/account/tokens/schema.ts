import { z } from "@hono/zod-openapi";
import { permissions } from "../../../core/credentials/permissions.ts";
import { zText } from "../../../core/text/text.ts";
import { zMoment } from "../../../core/time/calendar.ts";
import { Permissions, Timestamp } from "../../../http/shapes.ts";

export const tokenPath = z.object({ id: z.string().openapi({ description: "The token's id." }) });

const Scope = z.enum(["organization", "installation"]).openapi({
  description: "`installation`: works in every organization; for Platform Admins.",
  example: "organization",
});

export const NewToken = z
  .object({
    name: zText(64)
      .trim()
      .min(1, "must not be empty")
      .openapi({ description: "Its purpose.", example: "Nightly export" }),
    expiresAt: zMoment().optional().openapi({
      description: "In 90 days when absent, within 365; for `installation` in 24 hours, and not later.",
      example: "2027-01-01T00:00:00Z",
    }),
    scope: Scope.optional().openapi({ description: "`organization` when absent." }),
    permissions: Permissions.max(permissions.length)
      .optional()
      .openapi({
        description: "The token has those of them that its holder has at the time; all of the holder's when absent.",
        example: ["agent:read"],
      }),
  })
  .openapi("NewPersonalToken");
export type NewToken = z.infer<typeof NewToken>;

const token = {
  id: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
  name: z.string().openapi({ example: "Nightly export" }),
  prefix: z
    .string()
    .openapi({ description: "The token's first characters, to tell tokens apart.", example: "aep_Zk3dQ0" }),
  scope: Scope,
  organization: z
    .object({ slug: z.string().openapi({ example: "default" }), name: z.string().openapi({ example: "default" }) })
    .nullable()
    .openapi({ description: "Where it works; null: in every organization." }),
  permissions: Permissions.nullable().openapi({ description: "Null: all of its holder's.", example: ["agent:read"] }),
  expiresAt: Timestamp,
  createdAt: Timestamp,
};

export const PersonalToken = z
  .object({ ...token, lastUsedAt: Timestamp.nullable().openapi({ description: "To the hour." }) })
  .openapi("PersonalToken");
export type PersonalToken = z.infer<typeof PersonalToken>;

export const PersonalTokens = z.object({ tokens: z.array(PersonalToken) }).openapi("PersonalTokens");

export const CreatedToken = z
  .object({
    ...token,
    token: z.string().openapi({ description: "The token itself. It is shown here and never again.", example: "aep_…" }),
  })
  .openapi("CreatedPersonalToken");
export type CreatedToken = z.infer<typeof CreatedToken>;
