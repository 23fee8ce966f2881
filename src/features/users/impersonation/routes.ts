import { stopImpersonatingPath } from "../../../http/callers/impersonation.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Success } from "../../account/index.ts";
import { userPath } from "../schema.ts";
import { Impersonation, ImpersonationToken } from "./schema.ts";
import { impersonate, stopImpersonating } from "./service.ts";

const tags = ["Users"];
const feature = "administration";

const start = guarded(
  "policy:manage",
  {
    method: "post",
    path: "/api/users/{id}/impersonate",
    operationId: "impersonateUser",
    tags,
    summary: "See what a user sees",
    description:
      "Issues a token for GET and HEAD requests with the user's rights; anything else is 403, and so are streams of turns. Its requests are in the audit logs, with both persons. It ends with its time, with `POST /api/auth/stop-impersonating`, and when the caller is a Platform Admin no more or the user becomes one. A Platform Admin can't be impersonated: 403. An inactive user: 409.",
    request: { params: userPath, body: jsonBody(Impersonation) },
    responses: { 201: json(ImpersonationToken, "The token."), ...errorAnswers(404, 409) },
  },
  { installation: true, sessionOnly: true, feature },
);

const stop = guarded(
  null,
  {
    method: "post",
    path: stopImpersonatingPath,
    operationId: "stopImpersonating",
    tags,
    summary: "Stop seeing what a user sees",
    description: "Ends the impersonation whose token the request has. A session of one's own goes on.",
    responses: { 200: json(Success, "It has ended.") },
  },
  { feature },
);

/** `/api/users/{id}/impersonate` and `/api/auth/stop-impersonating`. */
export const impersonationRoutes = router()
  .openapi(start, async (c) => {
    return c.json(await impersonate(c.var.ctx, c.req.valid("param").id, c.req.valid("json")), 201);
  })
  .openapi(stop, async (c) => {
    await stopImpersonating(c.var.ctx);
    return c.json({ success: true as const }, 200);
  });
