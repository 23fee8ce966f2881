import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { slugParam } from "../../agents/index.ts";
import { NewBinding, RoleAnswer, RoleList, rolePath } from "./schema.ts";
import { bindRole, listRoles } from "./service.ts";

const tags = ["Providers"];
const options = { feature: "providers" } as const;
const path = "/api/instances/{slug}/provider-roles";

const list = guarded(
  "agent:read",
  {
    method: "get",
    path,
    operationId: "listProviderRoles",
    tags,
    summary: "Which models answer for an agent",
    description:
      "One entry for each purpose: `chat` for replies, `fast` for background work, `embedding` for searches by meaning, `transcription` and `speech` for calls. Each says where its model comes from, whether it is usable, and what could be bound.",
    request: { params: slugParam },
    responses: { 200: json(RoleList, "The roles."), ...errorAnswers(404) },
  },
  options,
);

const put = guarded(
  "agent:write",
  {
    method: "put",
    path: `${path}/{role}`,
    operationId: "bindProviderRole",
    tags,
    summary: "Bind a role of an agent to a connection",
    description:
      "Replaces what was bound, in force with the next turn. Only options of the role are accepted. A bound connection that becomes unusable is never replaced by one that is not named here: calls are then 503 `The agent's provider connection is not usable`.",
    request: { params: rolePath, body: jsonBody(NewBinding) },
    responses: { 200: json(RoleAnswer, "The role as it is now."), ...errorAnswers(404) },
  },
  options,
);

/** `/api/instances/{slug}/provider-roles`. */
export const roleRoutes = router()
  .openapi(list, async (c) => c.json({ roles: await listRoles(c.var.ctx, c.req.valid("param").slug) }, 200))
  .openapi(put, async (c) => {
    const { slug, role } = c.req.valid("param");
    return c.json({ role: await bindRole(c.var.ctx, slug, role, c.req.valid("json")) }, 200);
  });
