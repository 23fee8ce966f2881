import { z } from "@hono/zod-openapi";
import type { Incoming } from "../../../core/messengers.ts";

/** What is stored of a message for the turn that answers it. */
export const Payload = z.object({
  text: z.string(),
  files: z.array(z.object({ ref: z.string(), name: z.string(), mime: z.string(), size: z.number().nullable() })),
  senderName: z.string().nullable(),
  edits: z.string().nullable(),
  isPrivate: z.boolean(),
});
export type Payload = z.infer<typeof Payload>;

export const payloadOf = ({ text, files, senderName, edits, isPrivate }: Incoming): Payload => ({
  ...{ text, files, senderName, edits, isPrivate },
});
