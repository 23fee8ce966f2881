import { z } from "@hono/zod-openapi";
import { jsonProblem } from "../../../core/text/text.ts";
import { EventConditions } from "../events/conditions.ts";
import { deepestPayload, mostPayloadBytes } from "../events/payload.ts";

/** The verdict of one definition on an event. */
export const Verdict = z
  .object({
    definitionId: z.uuid(),
    answer: z.string().nullable().openapi({
      description: "The model's answer, cut after 500 characters; null where a condition made the question needless.",
      example: "yes",
    }),
    matched: z.boolean(),
    at: z.iso.datetime().openapi({ example: "2026-01-31T12:00:00.000Z" }),
    condition: EventConditions.element
      .optional()
      .openapi({ description: "The condition that the payload does not meet." }),
    warning: z.string().optional().openapi({ description: "Why the answer decides nothing, in words." }),
  })
  .openapi("EventVerdict");
export type Verdict = z.infer<typeof Verdict>;

export const TriedPayload = z
  .object({
    payload: z
      .unknown()
      .superRefine((payload, context) => {
        const limits = { levels: deepestPayload, bytes: mostPayloadBytes };
        const message = payload === undefined ? "is required" : jsonProblem(payload, limits);
        if (message !== null) context.addIssue({ code: "custom", message });
      })
      .openapi({
        description:
          "Any JSON, as a webhook would bring it; of a form, an object of strings, and a whole number beyond 9007199254740991 as one.",
        example: { action: "opened", issue: { number: 17, title: "The basket is empty", labels: [{ name: "bug" }] } },
      }),
  })
  .openapi("TriedPayload");

/** The outcome of a dry run. */
export const DryRun = z
  .object({
    outcome: z.enum(["conversation", "backlog", "no-match", "room-off", "backlog-full", "matcher-failed"]),
    definition: z
      .object({ id: z.uuid(), name: z.string(), action: z.enum(["conversation", "backlog"]) })
      .nullable()
      .openapi({ description: "The definition that matches; null for none." }),
    verdicts: z.array(Verdict).openapi({ description: "In the order of asking, up to the one that matches." }),
    prompt: z.string().nullable().openapi({
      description:
        "What the agent would be told: the definition's prompt, filled in. The marks around data are other ones each time.",
    }),
    reason: z.string().nullable().openapi({ description: "Why nothing would be done, in words.", example: null }),
  })
  .openapi("DryRun");
export type DryRun = z.infer<typeof DryRun>;
