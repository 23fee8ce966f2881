import { z } from "@hono/zod-openapi";
import { zInt4, zText } from "../../../core/text/text.ts";
import { Timestamp } from "../../../http/shapes.ts";
import { checkOutbound, outboundFields, withStoredPlace } from "../../inbox/index.ts";

const longestPrompt = 32_768;
/** The longest interval: a week, in minutes. */
const longestInterval = 10_080;

/** Stores a blank prompt as an empty one. */
const emptyIfBlank = (prompt: string) => (prompt.trim() === "" ? "" : prompt);

/** The fields that callers may set, with descriptions. Change and read share this list. */
const settable = {
  enabled: z.boolean().openapi({
    description: "While it is off, the agent takes no turns in it, and no event goes into its backlog.",
    example: true,
  }),
  prompt: zText(longestPrompt).overwrite(emptyIfBlank).openapi({
    description:
      "What the agent is to do in the Room, told to it in each of its turns. Without one it takes turns for events only.",
    example: "You look after the shop's orders. Ask a person before you refund anything.",
  }),
  ...outboundFields,
  evalIntervalMinutes: zInt4(0, longestInterval).openapi({
    description:
      "With a prompt: after so many minutes without events the agent takes a turn of its own; 0 for never. Events that wait are picked up within 30 seconds whatever it is.",
    example: 5,
  }),
};

export const RoomChanges = z
  .object(settable)
  .partial()
  .openapi("RoomChanges", { example: { prompt: "You look after the shop's orders.", evalIntervalMinutes: 0 } });
export type RoomChanges = z.infer<typeof RoomChanges>;

const NoRoom = z.object({ configured: z.literal(false) }).openapi("NoRoom");

const ConfiguredRoom = z
  .object({
    configured: z.literal(true),
    id: z.uuid(),
    ...settable,
    conversationId: z.string().openapi({
      description: "The one conversation of the Room's own turns.",
      example: "room:support:1767225600000",
    }),
    pendingEventCount: z.int().openapi({ description: "How many entries of the backlog wait.", example: 2 }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .openapi("ConfiguredRoom");

export const Room = z.discriminatedUnion("configured", [NoRoom, ConfiguredRoom]).openapi("Room");
export type Room = z.infer<typeof Room>;

export const RoomSaved = z.object({ success: z.literal(true) }).openapi("RoomSaved");

export const RoomQueued = z.object({ queued: z.literal(true) }).openapi("RoomQueued");

/** The Room in a bundle; null for none. */
export const bundledRoom = z
  .object({
    enabled: settable.enabled.default(true),
    prompt: settable.prompt.default(""),
    outboundChannel: settable.outboundChannel.default(null),
    outboundTarget: settable.outboundTarget.default(null),
    evalIntervalMinutes: settable.evalIntervalMinutes.default(5),
  })
  .superRefine(checkOutbound)
  .overwrite(withStoredPlace)
  .nullable();
export type BundledRoom = z.output<typeof bundledRoom>;
