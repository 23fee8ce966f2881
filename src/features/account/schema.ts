import { z } from "@hono/zod-openapi";
import { permissions } from "../../core/credentials/permissions.ts";
import { features } from "../../core/edition.ts";
import { isStorable, zText } from "../../core/text/text.ts";
import { ChosenPassword, Email, Name, OrganizationSlug, Timestamp } from "../../http/shapes.ts";

/** A password at sign-in may be any text, so that a new rule for passwords locks nobody out. */
const Password = zText(256)
  .min(1, "must not be empty")
  .openapi({ format: "password", example: "correct horse battery" });

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

export const setupQuery = z.object({
  token: zText(256)
    .optional()
    .openapi({ param: { description: "Of the setup link." }, example: "aest_4f0c" }),
});

export const SetupState = z
  .object({
    installed: z.boolean().openapi({ description: "Whether there is an owner." }),
    tokenValid: z.boolean().openapi({ description: "Whether the given token sets the installation up." }),
    hasSession: z.boolean().openapi({
      description: "Whether the request carries a session, alive or not: a page can't see its cookie.",
    }),
    resetsByMail: z.literal(true).optional().openapi({
      description: "Whether people may ask for a link to reset their password; absent where no mail is sent.",
    }),
  })
  .openapi("SetupState");

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

export const ForgotPassword = z.object({ email: Email }).openapi("ForgotPassword");

export const ResetPassword = z
  .object({
    token: zText(256).openapi({ description: "From the link in the mail.", example: "q3Rk…" }),
    password: ChosenPassword,
  })
  .openapi("ResetPassword");
export type ResetPassword = z.infer<typeof ResetPassword>;

export const Success = z.object({ success: z.literal(true) }).openapi("Success");

const organization = {
  slug: z.string().openapi({ example: "default" }),
  name: z.string().openapi({ example: "default" }),
};

const roleKey = z
  .string()
  .openapi({ description: "owner, admin, member, viewer, or the key of a custom role.", example: "owner" });

const OwnOrganization = z.object({
  ...organization,
  roleKey,
  permissions: z.array(z.enum(permissions)).openapi({
    description:
      "The user's permissions there. `policy:manage` belongs to Owners of the first organization; once there are Platform Admins, to these alone.",
    example: ["agent:read"],
  }),
});

export const Me = z
  .object({
    edition: z.enum(["open", "managed"]).openapi({ description: "The edition of this server.", example: "open" }),
    features: z
      .array(z.enum(features))
      .openapi({ description: "The features that are on; none in the open edition.", example: ["administration"] }),
    isPlatformAdmin: z.boolean().openapi({
      description: "Whether the user has all permissions in every organization; false in the open edition.",
      example: false,
    }),
    impersonatedBy: z
      .object({ id: account.id, name: account.name })
      .nullable()
      .openapi({ description: "The Platform Admin who sees what this user sees; null for the user in person." }),
    user: z.object({
      ...account,
      onboarding: z.record(z.string(), z.unknown()).openapi({ description: "What the panel remembers.", example: {} }),
      organizations: z
        .array(OwnOrganization)
        .openapi({ description: "The user's own, as far as they are within reach." }),
      passwordChangeRequired: z.literal(true).optional().openapi({
        description:
          "Somebody else set the password and knows it. If that was a member or key of an organization, only that organization is within reach until it is changed. Absent otherwise.",
      }),
    }),
  })
  .openapi("Me");
export type Me = z.infer<typeof Me>;

export const MeChanges = z
  .object({ name: Name.optional().openapi({ description: "What others see.", example: "Ada" }) })
  .openapi("MeChanges");
export type MeChanges = z.infer<typeof MeChanges>;

/** Without a limit of its own, so that too long texts always get the 413 of the whole `onboarding`. */
const RememberedText = z.string().refine(isStorable, { message: "must not contain NUL or unpaired surrogates" });
const Remembered = z.union([RememberedText, z.number(), z.boolean(), z.null()], {
  error: "must be a string, a number, true, false or null",
});

export const OnboardingChange = z.record(RememberedText, Remembered).openapi("OnboardingChange", {
  description: "What is given is set, null removes a key, and the rest stays.",
  example: { tourSeen: true, step: 3, hint: null },
});
export type OnboardingChange = z.infer<typeof OnboardingChange>;

export const PasswordChange = z
  .object({ currentPassword: Password, newPassword: ChosenPassword })
  .openapi("PasswordChange");
export type PasswordChange = z.infer<typeof PasswordChange>;

export const Session = z
  .object({
    id: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
    current: z.boolean().openapi({ description: "Whether it is the session of this call." }),
    ip: z.string().openapi({ description: "Where it was opened; empty when unknown.", example: "203.0.113.9" }),
    userAgent: z.string().openapi({ description: "What it was opened with; empty when unknown.", example: "curl/8.9" }),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.openapi({ description: "To the hour." }),
    expiresAt: Timestamp,
  })
  .openapi("Session");
export type Session = z.infer<typeof Session>;

export const Sessions = z.object({ sessions: z.array(Session) }).openapi("Sessions");

export const EndedSessions = z
  .object({
    deleted: z.literal(true),
    count: z.int().openapi({ description: "How many sessions were ended.", example: 2 }),
  })
  .openapi("EndedSessions");

export const OrganizationChoice = z
  .object({ slug: zText(128).openapi({ description: "Slug of the organization.", example: "default" }) })
  .openapi("OrganizationChoice");

export const ChosenOrganization = z
  .object({
    organization: z.object({
      ...organization,
      roleKey: roleKey.nullable().openapi({ description: "Null for a Platform Admin who is no member." }),
    }),
  })
  .openapi("ChosenOrganization");
export type ChosenOrganization = z.infer<typeof ChosenOrganization>;
