import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted } from "../../../http/shapes.ts";
import {
  EventDefinition,
  EventDefinitionChanges,
  EventDefinitionList,
  NewEventDefinition,
} from "./definition-schema.ts";
import { createDefinition, deleteDefinition, listDefinitions, updateDefinition } from "./definitions.ts";
import { definitionPath, sourcePath } from "./schema.ts";

const tags = ["Room"];
const path = "/api/instances/{slug}/event-sources/{id}/definitions";

const list = guarded("agent.room:read", {
  method: "get",
  path,
  operationId: "listEventDefinitions",
  tags,
  summary: "The definitions of an event source",
  description: "In the order in which the matcher asks.",
  request: { params: sourcePath },
  responses: { 200: json(EventDefinitionList, "The definitions."), ...errorAnswers(404) },
});

const create = guarded("agent.room:write", {
  method: "post",
  path,
  operationId: "createEventDefinition",
  tags,
  summary: "Say which events an agent handles, and how",
  description: `For each event the agent's fast model, or else its own, is asked one definition after the other until one matches: whether the event is one that \`matchingPrompt\` is about. \`conditions\` are looked at before, and cost no tokens. A source has up to 50 definitions.

Payloads are what other systems sent: they reach a model as data between random marks, and are no instructions.

The result goes to \`outboundChannel\` and \`outboundTarget\`, else to those of the Room.`,
  request: { params: sourcePath, body: jsonBody(NewEventDefinition) },
  responses: { 201: json(EventDefinition, "The definition."), ...errorAnswers(404, 409) },
});

const update = guarded("agent.room:write", {
  method: "put",
  path: `${path}/{definitionId}`,
  operationId: "updateEventDefinition",
  tags,
  summary: "Change a definition",
  description: "What is not given stays; `conditions` are replaced as a whole.",
  request: { params: definitionPath, body: jsonBody(EventDefinitionChanges) },
  responses: { 200: json(EventDefinition, "The definition as it is now."), ...errorAnswers(404) },
});

const remove = guarded("agent.room:write", {
  method: "delete",
  path: `${path}/{definitionId}`,
  operationId: "deleteEventDefinition",
  tags,
  summary: "Delete a definition",
  description: "Events that it put into the backlog stay there.",
  request: { params: definitionPath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/event-sources/{id}/definitions`. */
export const definitionRoutes = router()
  .openapi(list, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json(await listDefinitions(c.var.ctx, slug, id), 200);
  })
  .openapi(create, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json(await createDefinition(c.var.ctx, slug, id, c.req.valid("json")), 201);
  })
  .openapi(update, async (c) => {
    const { slug, ...path } = c.req.valid("param");
    return c.json(await updateDefinition(c.var.ctx, slug, path, c.req.valid("json")), 200);
  })
  .openapi(remove, async (c) => {
    const { slug, ...path } = c.req.valid("param");
    await deleteDefinition(c.var.ctx, slug, path);
    return c.json({ deleted: true as const }, 200);
  });
