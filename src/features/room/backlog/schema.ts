import { z } from "@hono/zod-openapi";
import { backlogStatuses } from "../../../db/schema.ts";
import { countedPage, pageQuery } from "../../../http/paging.ts";
import { Timestamp } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";

const id = z.string().openapi({ description: "The entry's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" });

const status = z.enum(backlogStatuses).openapi({
  description:
    "`pending`: waits for a turn of the agent; `processing`: a turn works on it; `completed`: the agent says that it is done; `failed`: given up after 3 turns, see `error`; `discarded`: by an operator, or with the Room.",
  example: "pending",
});

export const entryPath = slugParam.extend({ id });

export const BacklogQuery = z.object({
  status: status.optional(),
  // Each may contain a payload of 64 KB.
  ...pageQuery(20, 100),
});
export type BacklogQuery = z.infer<typeof BacklogQuery>;

export const BacklogEntry = z
  .object({
    id,
    eventDefinitionId: z.uuid().nullable().openapi({
      description: "The definition that the event matched; null: it was deleted.",
    }),
    rawPayload: z.unknown().openapi({
      description: "What came, as JSON.",
      example: { action: "opened", issue: { number: 17, title: "The basket is empty" } },
    }),
    matchedAt: Timestamp,
    status,
    completedAt: Timestamp.nullable().openapi({
      description: "When it was completed, given up or discarded. 30 days later it is forgotten.",
    }),
    reactNotes: z
      .string()
      .nullable()
      .openapi({ description: "What the agent noted of its work.", example: "Refunded order 17" }),
    attempts: z.int().openapi({ description: "How many turns worked on it.", example: 1 }),
    error: z.string().nullable().openapi({
      description:
        "Why the last attempt came to nothing; of a `completed` one, why what the turn sent that completed it was not delivered.",
      example: null,
    }),
    notBefore: Timestamp.nullable().openapi({ description: "No turn takes it up before; null: the next one does." }),
  })
  .openapi("BacklogEntry");
export type BacklogEntry = z.infer<typeof BacklogEntry>;

export const BacklogPage = z.object({ events: z.array(BacklogEntry), ...countedPage }).openapi("BacklogPage");

export const BacklogEntryAnswer = z.object({ event: BacklogEntry }).openapi("BacklogEntryAnswer");

export const BacklogEntryChange = z
  .object({
    status: z.enum(["discarded", "pending"]).openapi({
      description: "`discarded`: it is not to be handled; `pending`: it is to be handled again.",
      example: "discarded",
    }),
  })
  .openapi("BacklogEntryChange");
export type BacklogEntryChange = z.infer<typeof BacklogEntryChange>;
