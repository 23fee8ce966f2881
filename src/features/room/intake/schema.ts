import { z } from "@hono/zod-openapi";
import type { PayloadProblem } from "../events/payload.ts";

export const webhookPath = z.object({
  webhookToken: z.string().openapi({
    description: "The source's token.",
    example: "wN3v0Yp2kX8b1rQ5tZ7mC4eH6jL9sD0fG2aU3iO5xB8",
  }),
});

/** The errors of a request whose event is not matched (decisions §9). */
export type IntakeProblem = PayloadProblem | "unknown token";

const problems = [
  ...["payload too large", "unknown token"],
  ...["unsupported content type", "invalid payload"],
] as const satisfies readonly IntakeProblem[];

/** The response to a webhook request. */
export const EventAnswer = z
  .object({
    ok: z.boolean().openapi({ description: "Whether the event is stored; not, whether anything comes of it." }),
    error: z.enum(problems).optional().openapi({ description: "Only where it is not." }),
  })
  .openapi("EventAnswer", { example: { ok: true } });
export type EventAnswer = { ok: true } | { ok: false; error: IntakeProblem };

/** Both media types have plain schemas, since the handler reads the body itself. */
export const eventContent = {
  "application/json": {
    schema: {},
    examples: {
      issue: {
        summary: "An issue was opened",
        value: { action: "opened", issue: { number: 17, title: "The basket is empty", labels: [{ name: "bug" }] } },
      },
    },
  },
  "application/x-www-form-urlencoded": {
    schema: { type: "object", additionalProperties: { type: "string" } },
    examples: { order: { summary: "An order was paid", value: { event: "order.paid", order: "4711" } } },
  },
} as const;
