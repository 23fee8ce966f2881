import { z } from "@hono/zod-openapi";
import { zInt4, zText } from "../../../core/text/text.ts";
import { Name, Timestamp } from "../../../http/shapes.ts";
import { checkOutbound, outboundFields, withStoredPlace } from "../../inbox/index.ts";
import { EventConditions } from "../events/conditions.ts";
import { templateProblem } from "../events/templates.ts";
import { aliasProblem, lastPriority } from "./rules.ts";

const longestMatchingPrompt = 8_192;
const longestPrompt = 32_768;

const template = (description: string) =>
  zText(longestPrompt)
    .superRefine((text, context) => {
      const message = templateProblem(text);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .openapi({
      description: `${description} \`{{payload}}\` and \`{{payload.a.b}}\` are filled in as data. Without one the payload follows the prompt.`,
      example: "A customer wrote: {{payload.text}}. Draft a reply.",
    });

const actions = ["conversation", "backlog"] as const;

const matchingPrompt = zText(longestMatchingPrompt).trim().min(1, "must not be empty").openapi({
  description: "Which events it is about. The matcher's model reads it, and answers yes or no for each event.",
  example: "An issue that reports a bug in the checkout",
});

/** The fields that callers may set, with descriptions. Create, change and read share this list. */
const settable = {
  name: Name.openapi({ description: "For people.", example: "Bugs in the checkout" }),
  matchingPrompt,
  action: z.enum(actions, `must be one of: ${actions.join(", ")}`).openapi({
    description: "`conversation` runs a turn at once; `backlog` has the Room's next turn handle the event.",
    example: "backlog",
  }),
  interpretationPrompt: template("For `backlog`: what the Room's turn is told about the event."),
  contextPrompt: template("For `conversation`: what the turn begins with."),
  priority: zInt4(0, lastPriority).openapi({
    description: "The matcher asks in this order until one matches; by age where it is equal.",
    example: 0,
  }),
  conditions: EventConditions,
  ...outboundFields,
  enabled: z.boolean().openapi({ example: true }),
};

const description = matchingPrompt.optional().openapi({ description: "Another name of `matchingPrompt`." });

export const EventDefinition = z
  .object({ id: z.uuid(), ...settable, createdAt: Timestamp, updatedAt: Timestamp })
  .openapi("EventDefinition");
export type EventDefinition = z.infer<typeof EventDefinition>;

type SentDefinition = Parameters<typeof aliasProblem>[0];

function checkAlias(sent: SentDefinition, context: z.RefinementCtx): void {
  const message = aliasProblem(sent);
  if (message !== null) context.addIssue({ code: "custom", path: ["description"], message });
}

export const NewEventDefinition = z
  .object({
    ...settable,
    matchingPrompt: matchingPrompt.optional(),
    description,
    interpretationPrompt: settable.interpretationPrompt.default(""),
    contextPrompt: settable.contextPrompt.default(""),
    priority: settable.priority.optional().openapi({ description: "Behind all others unless given." }),
    conditions: settable.conditions.default([]),
    outboundChannel: settable.outboundChannel.default(null),
    outboundTarget: settable.outboundTarget.default(null),
    enabled: settable.enabled.default(true),
  })
  .superRefine((sent, context) => {
    checkAlias(sent, context);
    if (sent.matchingPrompt === undefined && sent.description === undefined) {
      context.addIssue({ code: "custom", path: ["matchingPrompt"], message: "is missing" });
    }
    checkOutbound(sent, context);
  })
  .overwrite(withStoredPlace)
  .openapi("NewEventDefinition", {
    example: {
      name: "Bugs in the checkout",
      matchingPrompt: "An issue that reports a bug in the checkout",
      action: "backlog",
    },
  });
export type NewEventDefinition = z.infer<typeof NewEventDefinition>;

export const EventDefinitionChanges = z
  .object({ ...settable, description })
  .partial()
  .superRefine(checkAlias)
  .openapi("EventDefinitionChanges", { example: { priority: 3 } });
export type EventDefinitionChanges = z.infer<typeof EventDefinitionChanges>;

export const EventDefinitionList = z.array(EventDefinition);
