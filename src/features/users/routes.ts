import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { findUser, listUsers } from "./find.ts";
import { NewUser, UserAnswer, UserChanges, UserPassword, UserQuery, Users, userPath } from "./schema.ts";
import { createUser, deleteUser, resetUserPassword, updateUser } from "./service.ts";

const tags = ["Users"];
const options = { installation: true, feature: "administration" } as const;
const writeOptions = { ...options, oneOrganization: true } as const;

const list = guarded(
  "policy:manage",
  {
    method: "get",
    path: "/api/users",
    operationId: "listUsers",
    tags,
    summary: "List users",
    description: "All users of the installation, by e-mail, each with the organizations that the user belongs to.",
    request: { query: UserQuery },
    responses: { 200: json(Users, "The users.") },
  },
  options,
);

const create = guarded(
  "policy:manage",
  {
    method: "post",
    path: "/api/users",
    operationId: "createUser",
    tags,
    summary: "Create a user",
    description:
      "An account without an organization: add it to the members of one. Its password counts as known to the caller, so `GET /api/me` of the user has `passwordChangeRequired`.",
    request: { body: jsonBody(NewUser) },
    responses: { 201: json(UserAnswer, "The user."), ...errorAnswers(409) },
  },
  writeOptions,
);

const read = guarded(
  "policy:manage",
  {
    method: "get",
    path: "/api/users/{id}",
    operationId: "getUser",
    tags,
    summary: "Read a user",
    description: "A user with the organizations that the user belongs to.",
    request: { params: userPath },
    responses: { 200: json(UserAnswer, "The user."), ...errorAnswers(404) },
  },
  options,
);

const update = guarded(
  "policy:manage",
  {
    method: "patch",
    path: "/api/users/{id}",
    operationId: "updateUser",
    tags,
    summary: "Change a user",
    description:
      "Changes what is given. `active: false` ends the user's sessions, tokens and sent invitations at once and open streams within 2 seconds; a new password ends the sessions. 409 for the last Platform Admin, for the last Owner of an organization, and for the caller's own password, which `/api/me/password` changes.",
    request: { params: userPath, body: jsonBody(UserChanges) },
    responses: { 200: json(UserAnswer, "The user as it is now."), ...errorAnswers(404, 409) },
  },
  writeOptions,
);

const remove = guarded(
  "policy:manage",
  {
    method: "delete",
    path: "/api/users/{id}",
    operationId: "deleteUser",
    tags,
    summary: "Delete a user",
    description:
      "Deletes the account with its memberships, invitations, sessions and tokens. What the user made stays. 409 for the last Platform Admin and for the last Owner of an organization.",
    request: { params: userPath },
    responses: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404, 409) },
  },
  writeOptions,
);

const password = guarded(
  "policy:manage",
  {
    method: "post",
    path: "/api/users/{id}/password",
    operationId: "resetUserPassword",
    tags,
    summary: "Set a user's password",
    description:
      "Ends the user's sessions, and the links to reset the former password. `GET /api/me` of the user has `passwordChangeRequired` until the user chooses another. 409 for the caller's own account.",
    request: { params: userPath, body: jsonBody(UserPassword) },
    responses: { 200: json(UserAnswer, "The user."), ...errorAnswers(404, 409) },
  },
  writeOptions,
);

/** `/api/users`. */
export const userRoutes = router()
  .openapi(list, async (c) => c.json(await listUsers(c.var.ctx, c.req.valid("query")), 200))
  .openapi(create, async (c) => c.json({ user: await createUser(c.var.ctx, c.req.valid("json")) }, 201))
  .openapi(read, async (c) => c.json({ user: await findUser(c.var.ctx.db, c.req.valid("param").id) }, 200))
  .openapi(update, async (c) =>
    c.json({ user: await updateUser(c.var.ctx, c.req.valid("param").id, c.req.valid("json")) }, 200),
  )
  .openapi(remove, async (c) => {
    await deleteUser(c.var.ctx, c.req.valid("param").id);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(password, async (c) => {
    const { password: chosen } = c.req.valid("json");
    return c.json({ user: await resetUserPassword(c.var.ctx, c.req.valid("param").id, chosen) }, 200);
  });
