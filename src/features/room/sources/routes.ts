import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";
import {
  EventSource,
  EventSourceAddress,
  EventSourceChanges,
  EventSourceList,
  NewEventSource,
  sourcePath,
} from "./schema.ts";
import { createSource, deleteSource, listSources, rotateToken, updateSource } from "./service.ts";

const tags = ["Room"];
const path = "/api/instances/{slug}/event-sources";

const list = guarded("agent.room:read", {
  method: "get",
  path,
  operationId: "listEventSources",
  tags,
  summary: "The event sources of an agent",
  description:
    "By age, each with its definitions. `webhookToken` and `webhookUrl` are there only for callers with `agent.room:write`.",
  request: { params: slugParam },
  responses: { 200: json(EventSourceList, "The sources."), ...errorAnswers(404) },
});

const create = guarded("agent.room:write", {
  method: "post",
  path,
  operationId: "createEventSource",
  tags,
  summary: "Let another system send events",
  description:
    "Makes an address to which a system posts events, up to 50 for an agent. What becomes of them is told by the source's definitions: without one every event is dropped.",
  request: { params: slugParam, body: jsonBody(NewEventSource) },
  responses: { 201: json(EventSourceAddress, "The source, and where to send its events."), ...errorAnswers(404, 409) },
});

const update = guarded("agent.room:write", {
  method: "put",
  path: `${path}/{id}`,
  operationId: "updateEventSource",
  tags,
  summary: "Change an event source",
  description: "What is not given stays; `config` is replaced as a whole, and `authKey: null` takes the key away.",
  request: { params: sourcePath, body: jsonBody(EventSourceChanges) },
  responses: { 200: json(EventSource, "The source as it is now."), ...errorAnswers(404) },
});

const remove = guarded("agent.room:write", {
  method: "delete",
  path: `${path}/{id}`,
  operationId: "deleteEventSource",
  tags,
  summary: "Delete an event source",
  description: "With its definitions. Its address is unknown at once; its events stay in the ledger.",
  request: { params: sourcePath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

const rotate = guarded("agent.room:write", {
  method: "post",
  path: `${path}/{id}/rotate-token`,
  operationId: "rotateEventSourceToken",
  tags,
  summary: "Give an event source another address",
  description: "The former address is unknown at once. A key that the source has stays.",
  request: { params: sourcePath },
  responses: { 201: json(EventSourceAddress, "Where to send the events from now on."), ...errorAnswers(404) },
});

/** `/api/instances/{slug}/event-sources`. */
export const sourceRoutes = router()
  .openapi(list, async (c) => c.json(await listSources(c.var.ctx, c.req.valid("param").slug), 200))
  .openapi(create, async (c) =>
    c.json(await createSource(c.var.ctx, c.req.valid("param").slug, c.req.valid("json")), 201),
  )
  .openapi(update, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json(await updateSource(c.var.ctx, slug, id, c.req.valid("json")), 200);
  })
  .openapi(remove, async (c) => {
    const { slug, id } = c.req.valid("param");
    await deleteSource(c.var.ctx, slug, id);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(rotate, async (c) => {
    const { slug, id } = c.req.valid("param");
    return c.json(await rotateToken(c.var.ctx, slug, id), 201);
  });
