import { z } from "@hono/zod-openapi";
import { eventOutcomes } from "../../../db/schema.ts";
import { countedPage, pageQuery } from "../../../http/paging.ts";
import { Timestamp } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";
import { Verdict } from "../match/schema.ts";

const eventId = z.string().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" });
const sourceId = z.uuid("must be the id of an event source");

export const eventPath = slugParam.extend({ id: eventId.openapi({ description: "The event's id." }) });

const outcome = z.enum(eventOutcomes).openapi({
  description:
    "`pending`: waits for the matcher; `conversation`, `backlog`: what the matching definition wants was done; `no-match`; `backlog-full`: 100 entries waited already; `room-off`: the Room is off, or the agent inactive; `source-disabled`; `invalid-payload`: it could not be read; `matcher-failed`. See `reason`.",
  example: "backlog",
});

export const RoomEvent = z
  .object({
    id: eventId,
    eventSourceId: z.uuid().nullable().openapi({ description: "Null: the source was deleted." }),
    receivedAt: Timestamp,
    payload: z.unknown().openapi({
      description:
        "What came, as JSON. With the outcome `invalid-payload` its text, or null for one that was too large.",
      example: { action: "opened", issue: { number: 17, title: "The basket is empty" } },
    }),
    verdicts: z.array(Verdict).openapi({ description: "In the order in which the matcher asked." }),
    outcome,
    definitionId: z.uuid().nullable().openapi({ description: "The definition that matches." }),
    reason: z.string().nullable().openapi({
      description:
        "Why it came to nothing, where something is to be said, or why the reply of its conversation was not delivered.",
      example: null,
    }),
    conversationId: z
      .string()
      .nullable()
      .openapi({ description: "The conversation that it began.", example: "room:support:1767225600000" }),
    backlogId: z.uuid().nullable().openapi({ description: "Its entry in the backlog." }),
    replayOf: z.uuid().nullable().openapi({ description: "The event that was handled again as this one." }),
  })
  .openapi("RoomEvent");
export type RoomEvent = z.infer<typeof RoomEvent>;

export const RoomEventPage = z.object({ events: z.array(RoomEvent), ...countedPage }).openapi("RoomEventPage");

export const RoomEventAnswer = z.object({ event: RoomEvent }).openapi("RoomEventAnswer");

export const RoomEventsQuery = z.object({
  outcome: outcome.optional(),
  eventSourceId: sourceId.optional(),
  // Each may contain a payload of 64 KB.
  ...pageQuery(20, 100),
});
export type RoomEventsQuery = z.infer<typeof RoomEventsQuery>;

export const ReplayedEvent = z
  .object({ id: eventId.openapi({ description: "The new event." }) })
  .openapi("ReplayedEvent");
