import type { Context } from "hono";
import type { Ctx } from "../../context/ctx.ts";
import { EngineError } from "../../core/errors.ts";
import { isObject } from "../../core/json.ts";
import { usableKeys } from "../../core/policies.ts";
import type { AppEnv } from "../../http/environment.ts";
import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { modelCatalogue } from "./models.ts";
import { revisionTag } from "./rules.ts";
import {
  AgentChanges,
  type Instance,
  InstanceAnswer,
  InstanceList,
  ifMatchHeader,
  ModelCatalogue,
  NewAgent,
  slugParam,
} from "./schema.ts";
import { type BeforeDelete, createAgent, deleteAgent, getAgent, listAgents, updateAgent } from "./service.ts";

const tags = ["Agents"];
const path = "/api/instances/{slug}";

const list = guarded("agent:read", {
  method: "get",
  path: "/api/instances",
  operationId: "listAgents",
  tags,
  summary: "All agents within reach",
  description: "By name, active or not. Owners and Admins reach every agent of the organization.",
  responses: { 200: json(InstanceList, "The agents.") },
});

const create = guarded("agent:write", {
  method: "post",
  path: "/api/instances",
  operationId: "createAgent",
  tags,
  summary: "Create an agent",
  description:
    "Only `slug` is needed. Without `workspaceId` it joins the first workspace that the caller reaches. A new agent has its channel `web` off and wants its API key.",
  request: { body: jsonBody(NewAgent) },
  responses: { 201: json(InstanceAnswer, "The new agent."), ...errorAnswers(404, 409) },
});

const models = guarded("agent:read", {
  method: "get",
  path: "/api/instances/models",
  operationId: "listProviderModels",
  tags,
  summary: "Providers and models to choose from",
  description:
    "A choice, not a limit: an agent may name any model its provider knows. `configured` speaks of the environment, as far as the policy `environmentKeys` lets this organization use it, and in the managed edition of the organization's default connection; an agent's own secrets and connections count as well.",
  responses: { 200: json(ModelCatalogue, "The catalogue.") },
});

const get = guarded("agent:read", {
  method: "get",
  path,
  operationId: "getAgent",
  tags,
  summary: "Read an agent",
  description: "With all its fields; never a secret.",
  request: { params: slugParam },
  responses: { 200: json(InstanceAnswer, "The agent; its revision is also the `ETag`."), ...errorAnswers(404) },
});

const update = guarded("agent:write", {
  method: "patch",
  path,
  operationId: "updateAgent",
  tags,
  summary: "Change an agent",
  description: "Fields that are left out stay as they are; null clears those that may be null.",
  request: { params: slugParam, headers: ifMatchHeader, body: jsonBody(AgentChanges) },
  responses: { 200: json(InstanceAnswer, "The agent as it is now."), ...errorAnswers(404, 412) },
});

const remove = guarded("agent:delete", {
  method: "delete",
  path,
  operationId: "deleteAgent",
  tags,
  summary: "Delete an agent",
  description: "With its secrets, channels and conversations. There is no way back.",
  request: { params: slugParam },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

async function answerWith({ warningsOf, providerProblems }: Others, ctx: Ctx, agent: Instance) {
  const problems = await providerProblems(ctx, agent.id);
  const instance = { ...agent, providerProblem: problems.get(agent.id) ?? null };
  const warnings = await warningsOf(ctx, instance);
  return warnings.length > 0 ? { instance, warnings } : { instance };
}

/**
 * Throws the 400 for a field of earlier releases, which no schema has, where connections are bound to roles instead.
 */
async function requireNoConnection({ req, var: { ctx } }: Context<AppEnv>): Promise<void> {
  if (!ctx.options.edition.has("providers")) return;
  const body: unknown = await req.json();
  if (isObject(body) && Object.hasOwn(body, "providerConnectionId")) {
    throw new EngineError("bad-request", "Use provider-roles");
  }
}

/** Operations of other features on agents. */
export interface Others {
  /** Deletes the other features' data of an agent. */
  beforeDelete: BeforeDelete;
  /** Returns the warnings about accepted settings of an agent. */
  warningsOf(ctx: Ctx, instance: Instance): Promise<string[]>;
  /** Returns the problems of the reachable agents' providers by agent; with `agentId` only those of one agent. */
  providerProblems(ctx: Ctx, agentId?: string): Promise<ReadonlyMap<string, Instance["providerProblem"]>>;
  /** Returns the provider of the organization's default connection. */
  defaultProvider(ctx: Ctx): Promise<string | null>;
}

export const createInstanceRoutes = (others: Others) =>
  router()
    .openapi(list, async (c) => {
      const { ctx } = c.var;
      const problems = await others.providerProblems(ctx);
      const instances = (await listAgents(ctx)).map((one) => ({
        ...one,
        providerProblem: problems.get(one.id) ?? null,
      }));
      return c.json({ instances }, 200);
    })
    .openapi(create, async (c) => {
      await requireNoConnection(c);
      const instance = await createAgent(c.var.ctx, c.req.valid("json"));
      return c.json(await answerWith(others, c.var.ctx, instance), 201, revisionTag(instance));
    })
    // Mounted before the routes of agents, since `models` is not a slug.
    .openapi(models, async (c) => {
      const { policies, options, membership } = c.var.ctx;
      const keys = usableKeys(policies.values, options.environmentKeys, membership.first);
      return c.json(modelCatalogue(keys, await others.defaultProvider(c.var.ctx)), 200);
    })
    .openapi(get, async (c) => {
      const instance = await getAgent(c.var.ctx, c.req.valid("param").slug);
      return c.json(await answerWith(others, c.var.ctx, instance), 200, revisionTag(instance));
    })
    .openapi(update, async (c) => {
      await requireNoConnection(c);
      const { slug } = c.req.valid("param");
      const instance = await updateAgent(c.var.ctx, slug, c.req.valid("json"), c.req.valid("header")["if-match"]);
      return c.json(await answerWith(others, c.var.ctx, instance), 200, revisionTag(instance));
    })
    .openapi(remove, async (c) => {
      await deleteAgent(c.var.ctx, c.req.valid("param").slug, others.beforeDelete);
      return c.json({ deleted: true as const }, 200);
    });
