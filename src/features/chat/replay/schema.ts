import { z } from "@hono/zod-openapi";
import { slugParam } from "../../agents/index.ts";
import { ChatEvent } from "../doors/events.ts";

export const messageParams = slugParam.extend({
  messageId: z.string().openapi({
    description: "Of the turn: what stands before the colon in the ids of its events.",
    example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d",
  }),
});

export const Stopped = z
  .object({ stopped: z.boolean().openapi({ description: "False when the turn was over already." }) })
  .openapi("Stopped");

export const eventStreamAnswer = {
  description: 'The stream: `ChatEvent`s such as `event: text-delta` with `data: {"text":"Hello"}`.',
  content: {
    // OpenAPI 3.1 can't describe a sequence of events, so this schema is of a single event.
    "text/event-stream": { schema: ChatEvent },
  },
} as const;

/** The headers of endpoints that start a turn (decisions §5). */
export const idempotencyHeader = z.object({
  "idempotency-key": z.string().optional().openapi({
    description:
      "With `chat_id`: the same request with the same key is answered once, for 24 hours; a repeat gets the stored reply, marked by the header `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters.",
    example: "order-1042-question-1",
  }),
});

export const lastEventHeader = z.object({
  "last-event-id": z.string().optional().openapi({
    description: "`<messageId>:<n>`, as the events have it.",
    example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d:3",
  }),
});
