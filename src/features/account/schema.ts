import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text.ts";
import { ChosenPassword, Email, Name, OrganizationSlug } from "../../http/shapes.ts";

/** A password as it is given at sign-in: any text, so that an old rule never locks anybody out. */
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
