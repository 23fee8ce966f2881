import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text.ts";

const required = "must not be empty";

const Email = zText(254)
  .trim()
  .toLowerCase()
  .pipe(z.email("must be an e-mail address"))
  .openapi({ description: "Upper case counts as lower case.", example: "owner@example.com" });

/** A password as it is given at sign-in: any text, so that an old rule never locks anybody out. */
const Password = zText(256).min(1, required).openapi({ format: "password", example: "correct horse battery" });

const ChosenPassword = zText(256)
  .min(8, "must be at least 8 characters")
  .openapi({ description: "8 to 256 characters.", format: "password", example: "correct horse battery" });

const Name = zText(128).trim().min(1, required);

/** What addresses an organization in paths and in `X-Organization`. */
export const OrganizationSlug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "must be 1 to 63 lower-case letters, digits or dashes, and not begin with a dash")
  .openapi({ example: "default" });

const Timestamp = z.iso.datetime().openapi({ example: "2026-11-21T08:00:00.000Z" });

const account = {
  id: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
  email: z.string().openapi({ example: "owner@example.com" }),
  name: z.string().openapi({ example: "Ada" }),
};

export const Account = z.object(account).openapi("Account");
export type Account = z.infer<typeof Account>;

export const SetUp = z
  .object({
    token: zText(256).openapi({ description: "From the link that the server prints at its first start." }),
    email: Email,
    password: ChosenPassword,
    name: Name.optional().openapi({ description: "The part of the e-mail before `@` when absent.", example: "Ada" }),
    organization: OrganizationSlug.optional().openapi({ description: "Slug of the first organization; `default`." }),
  })
  .openapi("SetUp");

export const Installed = z
  .object({ user: Account, organization: z.object({ slug: z.string().openapi({ example: "default" }) }) })
  .openapi("Installed");

export const SignIn = z.object({ email: Email, password: Password }).openapi("SignIn");

export const SignedIn = z
  .object({
    token: z.string().openapi({
      description: "Send it as `Authorization: Bearer <token>`. Lives for 30 days after its last use.",
      example: "aes_…",
    }),
    user: Account,
  })
  .openapi("SignedIn");

export const Success = z.object({ success: z.literal(true) }).openapi("Success");

export const Me = z
  .object({
    user: z.object({
      ...account,
      onboarding: z.record(z.string(), z.unknown()).openapi({ description: "What the panel remembers.", example: {} }),
      organizations: z.array(
        z.object({
          slug: z.string().openapi({ example: "default" }),
          name: z.string().openapi({ example: "default" }),
          roleKey: z.string().openapi({ description: "owner, admin, member or viewer.", example: "owner" }),
        }),
      ),
    }),
  })
  .openapi("Me");
export type Me = z.infer<typeof Me>;

export const NewManagementKey = z
  .object({
    name: Name.openapi({ description: "What it is for.", example: "CI" }),
    expiresAt: z.iso
      .datetime({ offset: true, error: "must be an ISO 8601 date and time with a zone" })
      .nullish()
      .openapi({ description: "In the future; absent or null: it does not expire.", example: "2027-01-01T00:00:00Z" }),
  })
  .openapi("NewManagementKey");
export type NewManagementKey = z.infer<typeof NewManagementKey>;

const managementKey = {
  id: account.id,
  name: z.string().openapi({ example: "CI" }),
  prefix: z.string().openapi({ description: "The key's first characters, to tell keys apart.", example: "aek_Zk3dQ0" }),
  expiresAt: Timestamp.nullable(),
  createdAt: Timestamp,
};

export const ManagementKey = z
  .object({ ...managementKey, lastUsedAt: Timestamp.nullable().openapi({ description: "To the hour." }) })
  .openapi("ManagementKey");
export type ManagementKey = z.infer<typeof ManagementKey>;

export const ManagementKeys = z.object({ managementKeys: z.array(ManagementKey) }).openapi("ManagementKeys");

export const CreatedManagementKey = z
  .object({
    ...managementKey,
    key: z.string().openapi({ description: "The key itself. It is shown here and never again.", example: "aek_…" }),
  })
  .openapi("CreatedManagementKey");
export type CreatedManagementKey = z.infer<typeof CreatedManagementKey>;

export const Deleted = z.object({ deleted: z.literal(true) }).openapi("Deleted");
