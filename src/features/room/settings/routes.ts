import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";
import { Room, RoomChanges, RoomQueued, RoomSaved } from "./schema.ts";
import { deleteRoom, getRoom, runRoom, saveRoom } from "./service.ts";

const tags = ["Room"];
const path = "/api/instances/{slug}/room";

const get = guarded("agent.room:read", {
  method: "get",
  path,
  operationId: "getRoom",
  tags,
  summary: "The Room of an agent",
  description: "Where the agent works on its own: what it is to do there, and how much waits for it.",
  request: { params: slugParam },
  responses: { 200: json(Room, "The Room."), ...errorAnswers(404) },
});

const save = guarded("agent.room:write", {
  method: "put",
  path,
  operationId: "setRoom",
  tags,
  summary: "Set up the Room of an agent, or change it",
  description: `The first call creates the Room. What is not given stays; at first the Room is on, without a prompt, without an outbound channel, and with an interval of 5 minutes.

Within 30 seconds the agent takes a turn for the entries of its backlog, at most 10 in one turn. With a prompt it also takes one of its own, without events, \`evalIntervalMinutes\` after its last turn in the Room. What it says to people goes over the outbound channel of the definition that an event matched, else over the Room's.`,
  request: { params: slugParam, body: jsonBody(RoomChanges) },
  responses: { 200: json(RoomSaved, "It is stored."), ...errorAnswers(404) },
});

const remove = guarded("agent.room:write", {
  method: "delete",
  path,
  operationId: "deleteRoom",
  tags,
  summary: "Delete the Room of an agent",
  description:
    "What waits in the backlog is discarded, and `backlog` definitions find no Room. The conversation, event sources and the ledger stay. Without a Room nothing happens.",
  request: { params: slugParam },
  responses: { 200: json(Deleted, "There is no Room."), ...errorAnswers(404) },
});

const run = guarded("agent.room:write", {
  method: "post",
  path: `${path}/run`,
  operationId: "runRoom",
  tags,
  summary: "Have the agent take a turn in its Room now",
  description:
    "Also without events, and for entries that are to wait a while. While a call in the Room's conversation waits for a person's decision, the Room waits too. 409 while the Room is off or missing, or the agent inactive.",
  request: { params: slugParam },
  responses: {
    201: json(RoomQueued, "The turn begins as soon as there is a place for it."),
    ...errorAnswers(404, 409),
  },
});

/** `/api/instances/{slug}/room`. `wake` starts jobs that are due. */
export function roomRoutes(wake: () => void) {
  return router()
    .openapi(get, async (c) => c.json(await getRoom(c.var.ctx, c.req.valid("param").slug), 200))
    .openapi(save, async (c) => {
      await saveRoom(c.var.ctx, c.req.valid("param").slug, c.req.valid("json"));
      return c.json({ success: true as const }, 200);
    })
    .openapi(remove, async (c) => {
      await deleteRoom(c.var.ctx, c.req.valid("param").slug);
      return c.json({ deleted: true as const }, 200);
    })
    .openapi(run, async (c) => {
      await runRoom(c.var.ctx, c.req.valid("param").slug);
      wake();
      return c.json({ queued: true as const }, 201);
    });
}
