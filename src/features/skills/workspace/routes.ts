import { z } from "@hono/zod-openapi";
import { errorAnswers, guarded, json, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { skillPath } from "../schema.ts";
import { allowSkill, disallowSkill, listAllowed } from "./service.ts";

const workspaceId = z.string().openapi({ description: "Id of the workspace." });
const workspacePath = organizationPath.extend({ workspaceId });
const allowPath = skillPath.extend({ workspaceId });

const AllowedSkills = z
  .object({ skills: z.array(z.string()).openapi({ description: "Slugs.", example: ["refunds"] }) })
  .openapi("AllowedSkills");

const Allowed = z.object({ allowed: z.literal(true) }).openapi("Allowed");

const tags = ["Skills"];
const path = "/api/organizations/{orgSlug}/workspaces/{workspaceId}/skills";

const list = guarded("workspace.assignment:manage", {
  method: "get",
  path,
  operationId: "listAllowedSkills",
  tags,
  summary: "Which skills a workspace may use",
  description: "Empty for a new workspace.",
  request: { params: workspacePath },
  responses: { 200: json(AllowedSkills, "The slugs."), ...errorAnswers(404) },
});

const allow = guarded("workspace.assignment:manage", {
  method: "put",
  path: `${path}/{name}`,
  operationId: "allowSkill",
  tags,
  summary: "Let a workspace use a skill",
  description: "Its agents can enable it from now on; one that still has it enabled is served it again.",
  request: { params: allowPath },
  responses: { 200: json(Allowed, "It is allowed."), ...errorAnswers(404) },
});

const disallow = guarded("workspace.assignment:manage", {
  method: "delete",
  path: `${path}/{name}`,
  operationId: "disallowSkill",
  tags,
  summary: "Take a skill from a workspace",
  description:
    "Its agents are served it no longer, from the next turn on, and lose the tools that only it had turned on. What they enabled and stored stays, for when it is allowed again. Taking what was not allowed is fine.",
  request: { params: allowPath },
  responses: { 200: json(Deleted, "It is no longer allowed."), ...errorAnswers(404) },
});

/** `/api/organizations/{orgSlug}/workspaces/{workspaceId}/skills`. */
export const allowRoutes = router()
  .openapi(list, async (c) => {
    return c.json({ skills: await listAllowed(c.var.ctx, c.req.valid("param").workspaceId) }, 200);
  })
  .openapi(allow, async (c) => {
    const { workspaceId, name } = c.req.valid("param");
    await allowSkill(c.var.ctx, workspaceId, name);
    return c.json({ allowed: true as const }, 200);
  })
  .openapi(disallow, async (c) => {
    const { workspaceId, name } = c.req.valid("param");
    await disallowSkill(c.var.ctx, workspaceId, name);
    return c.json({ deleted: true as const }, 200);
  });
