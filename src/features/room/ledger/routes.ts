import type { BacklogBound } from "../../../core/limits/backlog-bound.ts";
import { errorAnswers, guarded, json, router } from "../../../http/route.ts";
import { slugParam } from "../../agents/index.ts";
import { getEvent, listEvents } from "./read.ts";
import { replayEvent } from "./replay.ts";
import { eventPath, ReplayedEvent, RoomEventAnswer, RoomEventPage, RoomEventsQuery } from "./schema.ts";

const tags = ["Room"];
const path = "/api/instances/{slug}/room/events";

const list = guarded("agent.room:read", {
  method: "get",
  path,
  operationId: "listRoomEvents",
  tags,
  summary: "The ledger of an agent's events",
  description:
    "Each call of a webhook whose token is known, the newest first: what came, what the matcher asked and was answered, what was done, and why not. An agent keeps its newest 100,000 with 1 GiB of payloads, for 30 days, and beyond that what is to be worked on yet.",
  request: { params: slugParam, query: RoomEventsQuery },
  responses: { 200: json(RoomEventPage, "A page of them."), ...errorAnswers(404) },
});

const one = guarded("agent.room:read", {
  method: "get",
  path: `${path}/{id}`,
  operationId: "getRoomEvent",
  tags,
  summary: "One event",
  description: "With what became of it so far.",
  request: { params: eventPath },
  responses: { 200: json(RoomEventAnswer, "The event."), ...errorAnswers(404) },
});

const replay = guarded("agent.room:write", {
  method: "post",
  path: `${path}/{id}/replay`,
  operationId: "replayRoomEvent",
  tags,
  summary: "Have an event handled again",
  description:
    "Makes a new event with the same payload, which is matched by the definitions as they are now, also while the source is off. 409 for an event that could not be read, and for one whose source was deleted; 503 while too many events wait, as for their senders.",
  request: { params: eventPath },
  responses: { 201: json(ReplayedEvent, "It will be matched."), ...errorAnswers(404, 409) },
});

/** `/api/instances/{slug}/room/events`. `wake` starts jobs that are due. */
export function ledgerRoutes(boundBacklog: BacklogBound, wake: () => void) {
  return router()
    .openapi(list, async (c) => {
      return c.json(await listEvents(c.var.ctx, c.req.valid("param").slug, c.req.valid("query")), 200);
    })
    .openapi(one, async (c) => {
      const { slug, id } = c.req.valid("param");
      return c.json({ event: await getEvent(c.var.ctx, slug, id) }, 200);
    })
    .openapi(replay, async (c) => {
      const { slug, id } = c.req.valid("param");
      const made = await replayEvent(c.var.ctx, slug, id, boundBacklog);
      wake();
      return c.json({ id: made }, 201);
    });
}
