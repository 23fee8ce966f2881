import { readLargeJson } from "../../http/large-json.ts";
import { errorAnswers, guarded, json, router } from "../../http/route.ts";
import { slugParam } from "../agents/index.ts";
import { exportBundle } from "./export.ts";
import { importNew, importOver, type Wake } from "./import.ts";
import { Bundle, Imported, ImportQuery, importLimit } from "./schema.ts";

const tags = ["Agents"];
const path = "/api/instances/{slug}";

const exported = guarded("agent.export:read", {
  method: "get",
  path: `${path}/export`,
  operationId: "exportAgent",
  tags,
  summary: "An agent as a file",
  description:
    "With its prompts, tools, skills, channels, hooks, Room, event sources and scheduled tasks, in format 1.3. It holds no secret: of secrets and credentials it only says which are configured. What is written into texts, such as prompts and arguments of hooks, is there as it is. Nor does it hold conversations, memories, and tasks that the agent made by its tool. An unchanged agent gives the same text again, but for `exportedAt`. Where an agent has thousands of long texts it may be larger than the 8 MiB that an import takes.",
  request: { params: slugParam },
  responses: { 200: json(Bundle, "The bundle."), ...errorAnswers(404) },
});

// A reference, since a schema here would be checked before the handler, which also reads older formats.
const body = {
  required: true,
  content: { "application/json": { schema: { $ref: "#/components/schemas/AgentBundle" } } },
} as const;

const formats = `Takes the formats 1.0 to 1.5, up to 8 MiB, all or nothing. A bundle brings no secret: \`warnings\` name those that have to be set, skills and tools that are not there, and fields that a bundle does not have, which are left out. 1.3 is as the export writes it; each part that is left out is as in a new agent. A bundle older than the Web switch (all but 1.3 and 1.5) is imported with Web on. Where Web is on, authentication too, and there is no API key, Web is imported off, with the warning \`web_key_missing\`.

Each part that differs asks for the permission of its own route, such as \`agent.governance:write\` for hooks.`;

const created = guarded(
  "agent:write",
  {
    method: "post",
    path: "/api/instances/import",
    operationId: "importAgent",
    tags,
    summary: "Make an agent from a file",
    description: `A slug that is taken becomes \`<slug>-imported\`, \`<slug>-imported-2\` and so on. Event sources get addresses of their own.\n\n${formats}`,
    request: { query: ImportQuery, body },
    responses: { 201: json(Imported, "The new agent."), ...errorAnswers(404, 409) },
  },
  { bodyLimit: importLimit },
);

const replaced = guarded(
  "agent:write",
  {
    method: "post",
    path: `${path}/import`,
    operationId: "replaceAgent",
    tags,
    summary: "Replace an agent's configuration by a file's",
    description: `The agent becomes what the bundle says. Its slug, workspace, secrets, credentials of channels, sensitive variables of skills, conversations and memories stay, and so do tasks that it made by its tool. An event source keeps its address and key, and a task its runs, where the bundle has one of the same name. A bundle without a Room discards what waits in the backlog.\n\n${formats}`,
    request: { params: slugParam, body },
    responses: { 201: json(Imported, "It is replaced."), ...errorAnswers(404, 409) },
  },
  { bodyLimit: importLimit },
);

/** `/api/instances/{slug}/export` and the imports. `wake` starts jobs that are due, now or at a time. */
export const createBundleRoutes = (wake: Wake) =>
  router()
    .openapi(exported, async (c) => c.json(await exportBundle(c.var.ctx, c.req.valid("param").slug), 200))
    .openapi(created, async (c) => {
      const { workspaceId } = c.req.valid("query");
      return c.json(await importNew(c.var.ctx, await readLargeJson(c), workspaceId, wake), 201);
    })
    .openapi(replaced, async (c) => {
      const { slug } = c.req.valid("param");
      return c.json(await importOver(c.var.ctx, slug, await readLargeJson(c), wake), 201);
    });
