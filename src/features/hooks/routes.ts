import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { Deleted } from "../../http/shapes.ts";
import { slugParam } from "../agents/index.ts";
import { HookAnswer, HookChanges, HookList, hookPath, NewHook } from "./schema.ts";
import { createHook, deleteHook, listHooks, updateHook } from "./service.ts";

const tags = ["Hooks"];
const path = "/api/instances/{slug}/hooks";

const list = guarded("agent.governance:read", {
  method: "get",
  path,
  operationId: "listHooks",
  tags,
  summary: "The hooks of an agent",
  description: "In the order in which those of one event run.",
  request: { params: slugParam },
  responses: { 200: json(HookList, "The hooks."), ...errorAnswers(404) },
});

const create = guarded("agent.governance:write", {
  method: "post",
  path,
  operationId: "createHook",
  tags,
  summary: "Have a tool called around every reply",
  description: `Holds from the next turn on. What hooks answer that run before the model is told to the model. A hook that fails or takes too long is noted, and the turn goes on. Hooks do not run where an agent is asked by another one, nor in scheduled tasks and the Room.

The texts of \`args\` may name \`{{instance.slug}}\`, \`{{conversation.id}}\`, \`{{channel.type}}\`, \`{{channel.id}}\`, \`{{user.name}}\`, \`{{message.text}}\`, \`{{response.text}}\` and \`{{state.KEY}}\`; \`{{skill_env.…}}\` is filled in by tools that may have it. Arguments are shown to everybody who may read hooks: a credential belongs into a skill's variables.

With \`mutates\` on \`response_generated\` the reply is held back until the hook has answered: a text, what a script returned, or the body of a request that went well takes its place. Such a turn runs to its end whoever listens.`,
  request: { params: slugParam, body: jsonBody(NewHook) },
  responses: { 201: json(HookAnswer, "The hook."), ...errorAnswers(404) },
});

const update = guarded("agent.governance:write", {
  method: "patch",
  path: `${path}/{id}`,
  operationId: "updateHook",
  tags,
  summary: "Change a hook",
  description: "What is not given stays; `actionConfig` is replaced as a whole.",
  request: { params: hookPath, body: jsonBody(HookChanges) },
  responses: { 200: json(HookAnswer, "The hook as it is now."), ...errorAnswers(404) },
});

const remove = guarded("agent.governance:write", {
  method: "delete",
  path: `${path}/{id}`,
  operationId: "deleteHook",
  tags,
  summary: "Delete a hook",
  description: "What became of its calls stays with the conversations.",
  request: { params: hookPath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/hooks`. */
export const hookRoutes = router()
  .openapi(list, async (c) => c.json({ hooks: await listHooks(c.var.ctx, c.req.valid("param").slug) }, 200))
  .openapi(create, async (c) => {
    const hook = await createHook(c.var.ctx, c.req.valid("param").slug, c.req.valid("json"));
    return c.json({ hook }, 201);
  })
  .openapi(update, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json({ hook: await updateHook(c.var.ctx, slug, id, c.req.valid("json")) }, 200);
  })
  .openapi(remove, async (c) => {
    const { slug, id } = c.req.valid("param");
    await deleteHook(c.var.ctx, slug, id);
    return c.json({ deleted: true as const }, 200);
  });
