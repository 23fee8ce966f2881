import { offersSession } from "../../http/callers/authentication.ts";
import { clearSessionCookie, setSessionCookie } from "../../http/callers/cookie.ts";
import { refuseForeignOrigin } from "../../http/callers/origin.ts";
import { countRefused } from "../../http/callers/refused.ts";
import { errorAnswers, guarded, json, jsonBody, router, unguarded } from "../../http/route.ts";
import { sendsMails } from "../mail/index.ts";
import { meRoutes } from "./me-routes.ts";
import { requestOf } from "./request.ts";
import { Installed, SetUp, SetupState, SignedIn, SignIn, Success, setupQuery } from "./schema.ts";
import { signOut } from "./sessions.ts";
import { readSetupToken, recordFailedSetup, setUp } from "./setup.ts";
import { signIn } from "./sign-in.ts";

const tags = ["Account"];

const setUpRoute = unguarded({
  method: "post",
  path: "/api/setup",
  operationId: "setUp",
  tags,
  summary: "Make the first owner",
  description:
    "Takes the token of the one-time link that the server prints while nobody owns it, and makes the owner, an organization and its workspace `default`. Sign in afterwards. Calls count for the policy `rateLimit` by the client's address.",
  request: { body: jsonBody(SetUp) },
  responses: { 201: json(Installed, "The owner."), ...errorAnswers(400, 401, 403, 409, 429) },
});

const setupStateRoute = unguarded({
  method: "get",
  path: "/api/setup",
  operationId: "getSetup",
  tags,
  summary: "Whether there is an owner",
  description:
    "Tells a page whether to sign in or to set up, and with the token of a setup link whether that link still works. A wrong token is noted in the audit log. Calls count for the policy `rateLimit` by the client's address.",
  request: { query: setupQuery },
  responses: { 200: json(SetupState, "The state of the installation."), ...errorAnswers(429) },
});

const signInRoute = unguarded({
  method: "post",
  path: "/api/auth/sign-in/email",
  operationId: "signIn",
  tags,
  summary: "Sign in with e-mail and password",
  description:
    "Answers a session token and sets it as the cookie `agent_engine.session_token`. Within 15 minutes an address has 10 failures for an account, 50 failures in all, and 100 sign-ins, the successful ones too; after that it gets 429 until they are over. An IPv6 address counts with its /64, and a /48 has 500 failures. Within an hour an account has 50 failures from all addresses; after that it gets 429, but a right password passes from an address that it signed in from within 90 days. A fifth sign-in of an address while four of its own wait is 429 with `Retry-After: 1`; with too many of all waiting, 503 with `Retry-After`.",
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

export const accountRoutes = router()
  .openapi(setupStateRoute, async (c) => {
    // Counts every request, since each queries the database.
    countRefused(c);
    const { token } = c.req.valid("query");
    const state = await readSetupToken(c.var.services, token ?? "");
    if (state === "invalid" && token) await recordFailedSetup(c.var.services, requestOf(c));
    c.header("Cache-Control", "no-store");
    const tokenValid = state === "ready";
    const resetsByMail = (await sendsMails(c.var.services)) ? { resetsByMail: true as const } : {};
    return c.json({ installed: state === "installed", tokenValid, hasSession: offersSession(c), ...resetsByMail }, 200);
  })
  .openapi(setUpRoute, async (c) => {
    countRefused(c);
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
  });

accountRoutes.route("/", meRoutes);
