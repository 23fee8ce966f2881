import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { organizationPath } from "../../../http/shapes.ts";
import { ErasureAnswer, NewErasure } from "./schema.ts";
import { createErasure } from "./service.ts";

const create = guarded(
  "org:write",
  {
    method: "post",
    path: "/api/organizations/{orgSlug}/erasures",
    operationId: "createErasure",
    tags: ["Organizations"],
    summary: "Erase a person",
    description:
      "Deletes in the background what agents know of an end user: conversations with their files, messages in groups, memories, tasks, opt-outs, messages to send, and the name in sums and in the audit log. The audit log tells its end. A conversation of the person under legal hold is a 409. There is no way back.",
    request: { params: organizationPath, body: jsonBody(NewErasure) },
    responses: { 201: json(ErasureAnswer, "The erasure has begun."), ...errorAnswers(404, 409) },
  },
  { feature: "administration", sessionOnly: true },
);

/** `/api/organizations/{orgSlug}/erasures`. */
export const erasureRoutes = router().openapi(create, async (c) =>
  c.json({ erasure: await createErasure(c.var.ctx, c.req.valid("json")) }, 201),
);
