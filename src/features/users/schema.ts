import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { countedPage, pageQuery } from "../../http/paging.ts";
import { ChosenPassword, Email, Name } from "../../http/shapes.ts";

export const userPath = z.object({ id: z.string().openapi({ description: "Id of the user." }) });

export const UserQuery = z.object({
  search: zText(256)
    .optional()
    .openapi({ description: "Part of the e-mail or the name, in upper or lower case.", example: "ada" }),
  ...pageQuery(50, 200),
});
export type UserQuery = z.infer<typeof UserQuery>;

export const User = z
  .object({
    id: z.uuid().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
    email: z.string().openapi({ example: "ada@example.com" }),
    name: z.string().openapi({ example: "Ada" }),
    isPlatformAdmin: z.boolean().openapi({ example: false }),
    active: z.boolean().openapi({ description: "Whether the user may sign in.", example: true }),
    organizations: z
      .array(
        z.object({
          slug: z.string().openapi({ example: "default" }),
          name: z.string().openapi({ example: "default" }),
          roleKey: z.string().openapi({ example: "member" }),
        }),
      )
      .openapi({ description: "The memberships, by slug. Change them with the members of each organization." }),
  })
  .openapi("User");
export type User = z.infer<typeof User>;

export const UserAnswer = z.object({ user: User }).openapi("UserAnswer");
export const Users = z.object({ users: z.array(User), ...countedPage }).openapi("Users");
export type Users = z.infer<typeof Users>;

const isPlatformAdmin = z.boolean().optional().openapi({
  description: "Whether the user has every permission in every organization.",
  example: false,
});
const active = z.boolean().optional();

export const NewUser = z
  .object({
    email: Email,
    name: Name.optional().openapi({ description: "The part of the e-mail before `@` when absent.", example: "Ada" }),
    password: ChosenPassword,
    isPlatformAdmin,
    active: active.openapi({ description: "Whether the user may sign in; true when absent.", example: true }),
  })
  .openapi("NewUser");
export type NewUser = z.infer<typeof NewUser>;

export const UserChanges = z
  .object({
    email: Email.optional(),
    name: Name.optional().openapi({ example: "Ada" }),
    password: ChosenPassword.optional(),
    isPlatformAdmin,
    active: active.openapi({
      description: "False ends the user's sessions, tokens and streams.",
      example: false,
    }),
  })
  .openapi("UserChanges");
export type UserChanges = z.infer<typeof UserChanges>;

export const UserPassword = z.object({ password: ChosenPassword }).openapi("UserPassword");
