import { isAdministered } from "../../context/ctx.ts";
import { guarded, json, jsonBody, router } from "../../http/route.ts";
import { PoliciesAnswer, PoliciesBody } from "./schema.ts";
import { changePolicies, showPolicies } from "./service.ts";

const tags = ["Installation"];
const path = "/api/installation/policies";

const show = guarded(
  "policy:manage",
  {
    method: "get",
    path,
    operationId: "getPolicies",
    tags,
    summary: "The installation's policies",
    description:
      "All of them, with the values in force. The permission must be held in the first organization, which a request without `X-Organization` addresses. With the feature `administration` only signed-in people may call it.",
    responses: { 200: json(PoliciesAnswer, "The policies.") },
  },
  { installation: true, sessionOnly: isAdministered },
);

const change = guarded(
  "policy:manage",
  {
    method: "patch",
    path,
    operationId: "updatePolicies",
    tags,
    summary: "Change policies",
    description:
      "What is left out stays as it is, also inside `rateLimit`, `activityConnections` and `fileMegabytes`; null puts those back that may be null. In force on every replica within 30 seconds. The permission must be held in the first organization. With the feature `administration` only signed-in people may call it.",
    request: { body: jsonBody(PoliciesBody) },
    responses: { 200: json(PoliciesAnswer, "The policies as they are now.") },
  },
  { installation: true, sessionOnly: isAdministered },
);

/** `/api/installation/policies`. */
export const installationRoutes = router()
  .openapi(show, async (c) => c.json({ policies: await showPolicies(c.var.ctx) }, 200))
  .openapi(change, async (c) => c.json({ policies: await changePolicies(c.var.ctx, c.req.valid("json")) }, 200));
