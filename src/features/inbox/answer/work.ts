import { z } from "@hono/zod-openapi";
import { defineJob } from "../../../jobs/define.ts";

const Payload = z.object({
  conversationId: z.uuid(),
  /** The latest time to which the `runAt` of a waiting job may be moved. */
  latest: z.iso.datetime().optional(),
});

/** Answers the messages of a conversation's inbox. */
export const answerJob = defineJob("inbox.answer", Payload, ({ conversationId }) => conversationId);
