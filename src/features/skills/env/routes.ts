import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted } from "../../../http/shapes.ts";
import { agentSkillPath } from "../agent/schema.ts";
import { EnvBody, envPath, SkillEnv } from "./schema.ts";
import { deleteEnv, listEnv, putEnv } from "./service.ts";

const tags = ["Skills"];
const path = "/api/instances/{slug}/skills/{skillSlug}/env";

const list = guarded("agent.skill:read", {
  method: "get",
  path,
  operationId: "listSkillEnv",
  tags,
  summary: "Variables of a skill on an agent",
  description:
    "What the skill asks for, then what else is stored. The value of a sensitive one is never answered. They may be set before the skill is enabled, and stay when it is turned off.",
  request: { params: agentSkillPath },
  responses: { 200: json(SkillEnv, "The variables."), ...errorAnswers(404) },
});

const put = guarded("agent.skill:write", {
  method: "put",
  path,
  operationId: "putSkillEnv",
  tags,
  summary: "Store variables of a skill on an agent",
  description:
    "Adds to what is stored and replaces equal keys; an empty sensitive value is skipped. Values are stored encrypted, and take effect with the next turn. What the skill declares sensitive is so, whatever is sent; it is blotted out of whatever is said, so it must have six characters. A value is blotted out whether or not the pinned version declares its key, also while the skill is off; it is used only while the agent is served the skill. Where the version used now, or the one used when the value was stored, lists `hosts`, it goes only where all that list some let it. An agent keeps at most 256 variables of a skill, and 256 KiB of secrets and variables in all, each counted in UTF-8 and with 28 bytes for its encryption; more is 400.",
  request: { params: agentSkillPath, body: jsonBody(EnvBody) },
  responses: { 200: json(SkillEnv, "The variables."), ...errorAnswers(404) },
});

const remove = guarded("agent.skill:write", {
  method: "delete",
  path: `${path}/{key}`,
  operationId: "deleteSkillEnv",
  tags,
  summary: "Delete a variable of a skill on an agent",
  description: "The key percent-encoded, a slash in it too. Deleting what is not there is fine.",
  request: { params: envPath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/skills/{skillSlug}/env`. */
export const envRoutes = router()
  .openapi(list, async (c) => {
    const { slug, skillSlug } = c.req.valid("param");
    return c.json({ env: await listEnv(c.var.ctx, slug, skillSlug) }, 200);
  })
  .openapi(put, async (c) => {
    const { slug, skillSlug } = c.req.valid("param");
    return c.json({ env: await putEnv(c.var.ctx, slug, skillSlug, c.req.valid("json").env) }, 200);
  })
  .openapi(remove, async (c) => {
    const { slug, skillSlug, key } = c.req.valid("param");
    await deleteEnv(c.var.ctx, slug, skillSlug, key);
    return c.json({ deleted: true as const }, 200);
  });
