import { errorAnswers, guarded, json, jsonBody, router } from "../../../../http/route.ts";
import { Deleted, organizationPath } from "../../../../http/shapes.ts";
import { PluginAnswer, PluginSettings, Plugins, pluginPath } from "./schema.ts";
import { deletePlugin, getPlugin, listPlugins, refreshPlugin, savePlugin } from "./service.ts";

const tags = ["Tools"];
const path = "/api/organizations/{orgSlug}/plugins";

const list = guarded("org.plugin:manage", {
  method: "get",
  path,
  operationId: "listPlugins",
  tags,
  summary: "List plugins",
  description: "The MCP servers whose tools the organization's agents can have.",
  request: { params: organizationPath },
  responses: { 200: json(Plugins, "The plugins, by namespace."), ...errorAnswers(404) },
});

const get = guarded("org.plugin:manage", {
  method: "get",
  path: `${path}/{namespace}`,
  operationId: "getPlugin",
  tags,
  summary: "Read a plugin",
  description: "With the tools that its server listed last.",
  request: { params: pluginPath },
  responses: { 200: json(PluginAnswer, "The plugin."), ...errorAnswers(404) },
});

const save = guarded("org.plugin:manage", {
  method: "put",
  path: `${path}/{namespace}`,
  operationId: "putPlugin",
  tags,
  summary: "Add or change a plugin",
  description:
    "Connects to the MCP server and lists its tools, which takes up to 15 seconds; they are then called `<namespace>:<tool>`. A server that can't be reached is stored all the same: see `status` and `lastError`.",
  request: { params: pluginPath, body: jsonBody(PluginSettings) },
  responses: { 200: json(PluginAnswer, "The plugin."), ...errorAnswers(404, 409) },
});

const refresh = guarded("org.plugin:manage", {
  method: "post",
  path: `${path}/{namespace}/refresh`,
  operationId: "refreshPlugin",
  tags,
  summary: "List a plugin's tools again",
  description: "Connects anew, and takes up to 15 seconds. Tools that are known stay when the server can't be reached.",
  request: { params: pluginPath },
  responses: { 200: json(PluginAnswer, "The plugin."), ...errorAnswers(404, 409) },
});

const remove = guarded("org.plugin:manage", {
  method: "delete",
  path: `${path}/{namespace}`,
  operationId: "deletePlugin",
  tags,
  summary: "Delete a plugin",
  description: "Agents lose its tools with their next turn.",
  request: { params: pluginPath },
  responses: { 200: json(Deleted, "It is deleted."), ...errorAnswers(404) },
});

/** `/api/organizations/{orgSlug}/plugins`. */
export const pluginRoutes = router()
  .openapi(list, async (c) => c.json({ plugins: await listPlugins(c.var.ctx) }, 200))
  .openapi(get, async (c) => c.json({ plugin: await getPlugin(c.var.ctx, c.req.valid("param").namespace) }, 200))
  .openapi(save, async (c) => {
    const plugin = await savePlugin(c.var.ctx, c.req.valid("param").namespace, c.req.valid("json"));
    return c.json({ plugin }, 200);
  })
  .openapi(refresh, async (c) =>
    c.json({ plugin: await refreshPlugin(c.var.ctx, c.req.valid("param").namespace) }, 200),
  )
  .openapi(remove, async (c) => {
    await deletePlugin(c.var.ctx, c.req.valid("param").namespace);
    return c.json({ deleted: true as const }, 200);
  });
