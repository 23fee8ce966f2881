import { z } from "@hono/zod-openapi";
import { defineJob } from "../../../jobs/define.ts";

const Payload = z.object({
  conversationId: z.uuid(),
  /** A later `runAt` of a waiting job debounces until this time: then the messages that came are answered. */
  latest: z.iso.datetime().optional(),
});

/** Answers the messages of a conversation's inbox. */
export const answerJob = defineJob("inbox.answer", Payload, ({ conversationId }) => conversationId);
