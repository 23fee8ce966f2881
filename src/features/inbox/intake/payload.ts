import { z } from "@hono/zod-openapi";
import type { Incoming, Quote } from "../../../core/channels/messengers.ts";
import type { Fate } from "../answer/file-words.ts";

const Author = z.object({ id: z.string().nullable(), name: z.string().nullable() });

const Quoted: z.ZodType<Quote> = z.object({
  kind: z.enum(["reply", "forward"]),
  author: z.union([z.enum(["agent", "sender"]), Author, z.null()]),
  text: z.string(),
  passage: z.string().nullable(),
  messageId: z.string().nullable(),
});

/** The stored payload of a message, for the turn that answers it. */
export const Payload = z.object({
  text: z.string(),
  files: z.array(
    z.object({
      ref: z.string(),
      name: z.string(),
      mime: z.string(),
      size: z.number().nullable(),
      lastingId: z.string().optional(),
      isQuoted: z.boolean().optional(),
      /** The fate of the file, once it is final. */
      fate: z.custom<Fate>().optional(),
    }),
  ),
  senderName: z.string().nullable(),
  edits: z.string().nullable(),
  isPrivate: z.boolean(),
  // Rows of earlier releases lack both fields.
  quotes: z.array(Quoted).default([]),
  album: z.string().nullable().default(null),
});
export type Payload = z.infer<typeof Payload>;

/** Reads a row's payload. An unreadable payload becomes a note for the model, since it must not block the conversation. */
export const readPayload = (stored: unknown): Payload => Payload.safeParse(stored).data ?? unreadable;

const unreadable: Payload = {
  text: "[A message came that can't be read.]",
  files: [],
  senderName: null,
  edits: null,
  isPrivate: false,
  quotes: [],
  album: null,
};

export const payloadOf = ({ text, files, senderName, edits, isPrivate, quotes, album }: Incoming): Payload => ({
  text,
  files,
  senderName,
  edits,
  isPrivate,
  quotes,
  album: album?.id ?? null,
});
