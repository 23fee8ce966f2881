import { errorAnswers, guarded, json, jsonBody, router } from "../../http/route.ts";
import { slugParam } from "../agents/index.ts";
import { listAgentTools, listRequiredSecrets, saveAgentTools, wireTool } from "./agent-tools.ts";
import { toolCatalogue } from "./catalogue.ts";
import { AgentTools, RequiredSecrets, ToolCatalogue, ToolChanges } from "./schema.ts";

const tags = ["Tools"];
const path = "/api/instances/{slug}/tools";

const catalogue = guarded("agent.tool:read", {
  method: "get",
  path: "/api/tools",
  operationId: "listTools",
  tags,
  summary: "Every tool that agents can have",
  description:
    "The engine's own, those of the server's plugins and of the organization's MCP servers, and the active agents, which others of their workspace can ask.",
  responses: { 200: json(ToolCatalogue, "The tools.") },
});

const list = guarded("agent.tool:read", {
  method: "get",
  path,
  operationId: "listAgentTools",
  tags,
  summary: "Which tools an agent has",
  description: "All that it can have, on or off.",
  request: { params: slugParam },
  responses: { 200: json(AgentTools, "The tools."), ...errorAnswers(404) },
});

const save = guarded("agent.tool:write", {
  method: "patch",
  path,
  operationId: "putAgentTools",
  tags,
  summary: "Choose an agent's tools",
  description: "`enabled` is the complete set. Takes effect with the next turn.",
  request: { params: slugParam, body: jsonBody(ToolChanges) },
  responses: { 200: json(AgentTools, "The tools as they are now."), ...errorAnswers(404) },
});

const required = guarded("agent.tool:read", {
  method: "get",
  path: `${path}/required-secrets`,
  operationId: "listRequiredSecrets",
  tags,
  summary: "Which secrets an agent's tools need",
  description: "Of the enabled tools, each secret once, and whether the agent has it. Values are never answered.",
  request: { params: slugParam },
  responses: { 200: json(RequiredSecrets, "The secrets."), ...errorAnswers(404) },
});

/** `/api/tools` and `/api/instances/{slug}/tools`. */
export const toolRoutes = router()
  .openapi(catalogue, async (c) => c.json({ tools: (await toolCatalogue(c.var.ctx)).map(wireTool) }, 200))
  .openapi(list, async (c) => c.json({ tools: await listAgentTools(c.var.ctx, c.req.valid("param").slug) }, 200))
  .openapi(save, async (c) => {
    const tools = await saveAgentTools(c.var.ctx, c.req.valid("param").slug, c.req.valid("json"));
    return c.json({ tools }, 200);
  })
  .openapi(required, async (c) => {
    const requiredSecrets = await listRequiredSecrets(c.var.ctx, c.req.valid("param").slug);
    return c.json({ requiredSecrets }, 200);
  });
