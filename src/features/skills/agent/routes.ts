import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { slugParam } from "../../agents/index.ts";
import { rollBackSkill, setAutoLoad, upgradeSkill } from "./pin.ts";
import {
  AgentSkills,
  AgentSkillsChanged,
  AutoLoad,
  AutoLoadAnswer,
  agentSkillPath,
  EnabledSkills,
  Rollback,
  RolledBack,
  Upgraded,
} from "./schema.ts";
import { listAgentSkills, setAgentSkills } from "./service.ts";

const tags = ["Skills"];
const path = "/api/instances/{slug}/skills";
const one = `${path}/{skillSlug}` as const;

const list = guarded("agent.skill:read", {
  method: "get",
  path,
  operationId: "listAgentSkills",
  tags,
  summary: "Skills of an agent",
  description:
    "What its workspace allows, and what it has enabled, by slug. One that is enabled shows the version the agent pinned, the others their current one.",
  request: { params: slugParam },
  responses: { 200: json(AgentSkills, "The skills."), ...errorAnswers(404) },
});

const set = guarded("agent.skill:write", {
  method: "patch",
  path,
  operationId: "setAgentSkills",
  tags,
  summary: "Choose an agent's skills",
  description:
    "`enabled` is the complete set: what it leaves out is turned off. A skill that is turned on pins its current version and turns on the tools it requires. A skill that is unknown, or not allowed in the agent's workspace, is refused with 400, and nothing changes.",
  request: { params: slugParam, body: jsonBody(EnabledSkills) },
  responses: { 200: json(AgentSkillsChanged, "The skills as they are now."), ...errorAnswers(404) },
});

const upgrade = guarded("agent.skill:write", {
  method: "post",
  path: `${one}/upgrade`,
  operationId: "upgradeAgentSkill",
  tags,
  summary: "Pin the current version of a skill",
  description:
    "Takes effect with the next turn. Fine when it is pinned already. A version that requires tools which the organization does not have is refused with 400.",
  request: { params: agentSkillPath },
  responses: { 201: json(Upgraded, "The skill as the agent has it now."), ...errorAnswers(404) },
});

/** An optional body. */
const optional = <Schema extends Parameters<typeof jsonBody>[0]>(schema: Schema) => ({
  ...jsonBody(schema),
  required: false,
});

const rollBack = guarded("agent.skill:write", {
  method: "post",
  path: `${one}/rollback`,
  operationId: "rollBackAgentSkill",
  tags,
  summary: "Pin an earlier version of a skill",
  description:
    "The version named, else the one that was pinned before. Takes effect with the next turn. A version that requires tools which the organization does not have is refused with 400.",
  request: { params: agentSkillPath, body: optional(Rollback) },
  responses: { 201: json(RolledBack, "The skill as the agent has it now."), ...errorAnswers(404) },
});

const autoLoad = guarded("agent.skill:write", {
  method: "post",
  path: `${one}/auto-load`,
  operationId: "autoLoadAgentSkill",
  tags,
  summary: "Load a skill into each prompt, or not",
  description:
    "Off, the prompt names the skill and the model reads it when it needs to; on, its whole content stands in the prompt. Without a body it is turned round.",
  request: { params: agentSkillPath, body: optional(AutoLoad) },
  responses: { 201: json(AutoLoadAnswer, "What it is now."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/skills`, without the variables. */
export const agentSkillRoutes = router()
  .openapi(list, async (c) => c.json({ skills: await listAgentSkills(c.var.ctx, c.req.valid("param").slug) }, 200))
  .openapi(set, async (c) => {
    return c.json(await setAgentSkills(c.var.ctx, c.req.valid("param").slug, c.req.valid("json").enabled), 200);
  })
  .openapi(upgrade, async (c) => {
    const { slug, skillSlug } = c.req.valid("param");
    return c.json({ upgraded: true as const, skill: await upgradeSkill(c.var.ctx, slug, skillSlug) }, 201);
  })
  .openapi(rollBack, async (c) => {
    const { slug, skillSlug } = c.req.valid("param");
    const skill = await rollBackSkill(c.var.ctx, slug, skillSlug, c.req.valid("json").versionId);
    return c.json({ rolledBack: true as const, skill }, 201);
  })
  .openapi(autoLoad, async (c) => {
    const { slug, skillSlug } = c.req.valid("param");
    return c.json({ autoLoad: await setAutoLoad(c.var.ctx, slug, skillSlug, c.req.valid("json").autoLoad) }, 201);
  });
