import type { Context } from "hono";
import { clearSessionCookie, setSessionCookie } from "../../http/cookie.ts";
import type { AppEnv } from "../../http/environment.ts";
import { refuseForeignOrigin } from "../../http/origin.ts";
import { errorAnswers, guarded, json, jsonBody, router, unguarded } from "../../http/route.ts";
import { type SetupState, setupPage } from "../../panel/setup-page.ts";
import { readMe } from "./me.ts";
import { readSetupToken, setUp } from "./owner.ts";
import { Installed, Me, SetUp, SignedIn, SignIn, Success } from "./schema.ts";
import { signOut } from "./sessions.ts";
import { signIn } from "./sign-in.ts";

const tags = ["Account"];

const setUpRoute = unguarded({
  method: "post",
  path: "/api/setup",
  operationId: "setUp",
  tags,
  summary: "Make the first owner",
  description:
    "Takes the token of the one-time link that the server prints while nobody owns it, and makes the owner, an organization and its workspace `default`. Sign in afterwards.",
  request: { body: jsonBody(SetUp) },
  responses: { 201: json(Installed, "The owner."), ...errorAnswers(400, 401, 403, 409) },
});

const signInRoute = unguarded({
  method: "post",
  path: "/api/auth/sign-in/email",
  operationId: "signIn",
  tags,
  summary: "Sign in with e-mail and password",
  description:
    "Answers a session token and sets it as the cookie `agent_engine.session_token`. After 10 failures for an account, or 50 in all, an address waits for up to 15 minutes.",
  request: { body: jsonBody(SignIn) },
  responses: { 200: json(SignedIn, "The session."), ...errorAnswers(400, 401, 403, 429) },
});

const signOutRoute = guarded(null, {
  method: "post",
  path: "/api/auth/sign-out",
  operationId: "signOut",
  tags,
  summary: "Sign out",
  description: "Ends the session of this call and clears its cookie. Other sessions of the user live on.",
  responses: { 200: json(Success, "The session has ended.") },
});

const getMeRoute = guarded(null, {
  method: "get",
  path: "/api/me",
  operationId: "getMe",
  tags,
  summary: "Read the current user",
  description: "The signed-in user with the organizations they belong to. A management key is nobody: 403.",
  responses: { 200: json(Me, "The user.") },
});

const requestOf = (c: Context<AppEnv>) => ({
  id: c.var.requestId,
  ip: c.var.ip,
  userAgent: c.req.header("User-Agent") ?? "",
});

const pageStatus = { ready: 200, invalid: 401, installed: 409 } as const satisfies Record<SetupState, number>;

export const accountRoutes = router()
  .openapi(setUpRoute, async (c) => {
    refuseForeignOrigin(c);
    const { token, ...owner } = c.req.valid("json");
    return c.json(await setUp(c.var.services, token, owner, requestOf(c)), 201);
  })
  .openapi(signInRoute, async (c) => {
    refuseForeignOrigin(c);
    const session = await signIn(c.var.services, c.req.valid("json"), requestOf(c));
    setSessionCookie(c, session.token);
    c.header("Cache-Control", "no-store");
    return c.json(session, 200);
  })
  .openapi(signOutRoute, async (c) => {
    await signOut(c.var.ctx);
    clearSessionCookie(c);
    return c.json({ success: true as const }, 200);
  })
  .openapi(getMeRoute, async (c) => c.json(await readMe(c.var.ctx), 200));

// A page for people, so it is not in the document of the API.
accountRoutes.get("/setup", async (c) => {
  const token = c.req.query("token") ?? "";
  const state = await readSetupToken(c.var.services, token);
  const { html, contentSecurityPolicy } = await setupPage(state, token);
  c.header("Content-Security-Policy", contentSecurityPolicy);
  c.header("Cache-Control", "no-store");
  return c.html(html, pageStatus[state]);
});
