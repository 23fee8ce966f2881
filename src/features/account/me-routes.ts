import { z } from "@hono/zod-openapi";
import { clearSessionCookie } from "../../http/callers/cookie.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { changePassword } from "./change-password.ts";
import { changeMe, changeOnboarding, chooseOrganization, readMe } from "./me.ts";
import {
  ChosenOrganization,
  EndedSessions,
  Me,
  MeChanges,
  OnboardingChange,
  OrganizationChoice,
  PasswordChange,
  Sessions,
  Success,
} from "./schema.ts";
import { endOtherSessions, endSession, listSessions } from "./sessions.ts";

const tags = ["Account"];

const getMeRoute = guarded(null, {
  method: "get",
  path: "/api/me",
  operationId: "getMe",
  tags,
  summary: "Read the current user",
  description:
    "The signed-in user with the organizations they belong to; while a member or key of an organization knows the password, with that one alone. A management key is nobody: 403.",
  responses: { 200: json(Me, "The user.") },
});

const changeMeRoute = guarded(null, {
  method: "patch",
  path: "/api/me",
  operationId: "changeMe",
  tags,
  summary: "Change the current user",
  description: "Changes the name, in every organization of the user; at most 10 times an hour.",
  request: { body: jsonBody(MeChanges) },
  responses: { 200: json(Me, "The user.") },
});

const changeOnboardingRoute = guarded(
  null,
  {
    method: "patch",
    path: "/api/me/onboarding",
    operationId: "changeOnboarding",
    tags,
    summary: "Remember something of the current user",
    description:
      "Merges a flat JSON object into `onboarding`; null removes a key. With what is stored it may have at most 8192 bytes of JSON: more is 413.",
    request: { body: jsonBody(OnboardingChange) },
    responses: { 200: json(Me, "The user.") },
  },
  { bodyLimit: 32 * 1024 },
);

const changePasswordRoute = guarded(null, {
  method: "post",
  path: "/api/me/password",
  operationId: "changePassword",
  tags,
  summary: "Change the password",
  description:
    "Ends the user's other sessions, and opens the other organizations of somebody whose password was set by another person. A wrong `currentPassword` is 400; after 10 of them within 15 minutes the user gets 429 until they are over. With too many passwords waiting to be checked, 503 with `Retry-After`.",
  request: { body: jsonBody(PasswordChange) },
  responses: { 200: json(Success, "The password is changed.") },
});

const listSessionsRoute = guarded(null, {
  method: "get",
  path: "/api/me/sessions",
  operationId: "listSessions",
  tags,
  summary: "List sessions",
  description: "The current user's live sessions, never their tokens; of more than 1000 the newest.",
  responses: { 200: json(Sessions, "The sessions, the newest first.") },
});

const endSessionsRoute = guarded(null, {
  method: "delete",
  path: "/api/me/sessions",
  operationId: "endOtherSessions",
  tags,
  summary: "End the other sessions",
  description: "Signs the current user out everywhere but here.",
  responses: { 200: json(EndedSessions, "They have ended.") },
});

const endSessionRoute = guarded(null, {
  method: "delete",
  path: "/api/me/sessions/{id}",
  operationId: "endSession",
  tags,
  summary: "End a session",
  description: "Ends one session of the current user. The one of this call is signed out, and its cookie cleared.",
  request: { params: z.object({ id: z.string().openapi({ description: "The session's id." }) }) },
  responses: { 200: json(Deleted, "It has ended."), ...errorAnswers(404) },
});

const chooseOrganizationRoute = guarded(null, {
  method: "put",
  path: "/api/me/organization",
  operationId: "chooseOrganization",
  tags,
  summary: "Choose the organization",
  description: "Requests of this session that name no organization in `X-Organization` mean this one from now on.",
  request: { body: jsonBody(OrganizationChoice) },
  responses: { 200: json(ChosenOrganization, "The organization."), ...errorAnswers(404) },
});

/** `/api/me` and the paths below it. */
export const meRoutes = router()
  .openapi(getMeRoute, async (c) => c.json(await readMe(c.var.ctx), 200))
  .openapi(changeMeRoute, async (c) => {
    await changeMe(c.var.ctx, c.req.valid("json"));
    return c.json(await readMe(c.var.ctx), 200);
  })
  .openapi(changeOnboardingRoute, async (c) => {
    await changeOnboarding(c.var.ctx, c.req.valid("json"));
    return c.json(await readMe(c.var.ctx), 200);
  })
  .openapi(changePasswordRoute, async (c) => {
    await changePassword(c.var.ctx, c.req.valid("json"));
    return c.json({ success: true as const }, 200);
  })
  .openapi(listSessionsRoute, async (c) => c.json({ sessions: await listSessions(c.var.ctx) }, 200))
  .openapi(endSessionsRoute, async (c) => {
    const count = await endOtherSessions(c.var.ctx);
    return c.json({ deleted: true as const, count }, 200);
  })
  .openapi(endSessionRoute, async (c) => {
    const { current } = await endSession(c.var.ctx, c.req.valid("param").id);
    if (current) clearSessionCookie(c);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(chooseOrganizationRoute, async (c) => {
    const organization = await chooseOrganization(c.var.ctx, c.req.valid("json").slug);
    return c.json({ organization }, 200);
  });
