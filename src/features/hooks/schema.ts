import { z } from "@hono/zod-openapi";
import { zInt4, zText } from "../../core/text/text.ts";
import { slugParam } from "../agents/index.ts";
import { argsProblem, lastPosition, mostHooks, replacingProblem } from "./rules.ts";

const events = ["conversation_start", "message_received", "response_generated", "response_sent"] as const;

const event = z.enum(events, `must be one of: ${events.join(", ")}`).openapi({
  description:
    "When it runs: before the first message of a conversation, before each message, when the reply is complete, and after it was sent (where it is sent as a whole, just before: the reply waits for it).",
  example: "message_received",
});

const ActionConfig = z
  .object({
    toolName: zText(256).min(1, "must not be empty").openapi({
      description: "Canonical name of the tool. It need not be on for the model.",
      example: "httpRequest",
    }),
    args: z
      .record(z.string(), z.unknown())
      .superRefine((args, context) => {
        const message = argsProblem(args);
        if (message !== null) context.addIssue({ code: "custom", message });
      })
      .default({})
      .openapi({
        description:
          "What the tool is called with, at most 16 KB. In its texts `{{instance.slug}}`, `{{conversation.id}}`, `{{channel.type}}`, `{{channel.id}}`, `{{user.name}}`, `{{message.text}}`, `{{response.text}}` and `{{state.KEY}}` are filled in.",
        example: { url: "https://api.example.com/seen", method: "POST", body: { text: "{{message.text}}" } },
      }),
  })
  .openapi("HookAction");

/** The fields that callers may set, with descriptions. Create, change and read share this list. */
const settable = {
  event,
  actionType: z.literal("tool", "must be tool").openapi({ description: "A hook calls a tool." }),
  actionConfig: ActionConfig,
  mutates: z.boolean().openapi({
    description:
      "On `response_generated` only: the text that the tool answers becomes the reply, which nobody sees before.",
    example: false,
  }),
  enabled: z.boolean().openapi({ example: true }),
  position: zInt4(0, lastPosition).openapi({
    description: "Hooks of an event run in this order, one after the other; by age where it is equal.",
    example: 0,
  }),
  timeoutMs: zInt4(1_000, 30_000).openapi({ description: "How long the call may take.", example: 10_000 }),
};

export const Hook = z.object({ id: z.uuid(), ...settable }).openapi("Hook");
export type Hook = z.infer<typeof Hook>;

export const HookList = z.object({ hooks: z.array(Hook) }).openapi("HookList");
export const HookAnswer = z.object({ hook: Hook }).openapi("HookAnswer");

export const NewHook = z
  .object({
    ...settable,
    actionType: settable.actionType.default("tool"),
    mutates: settable.mutates.default(false),
    enabled: settable.enabled.default(true),
    position: settable.position.optional().openapi({ description: "Behind all others unless given." }),
    timeoutMs: settable.timeoutMs.default(10_000),
  })
  .openapi("NewHook", {
    example: { event: "message_received", actionConfig: { toolName: "currentTime", args: {} } },
  });
export type NewHook = z.infer<typeof NewHook>;

/** An agent's hooks in a bundle. */
export const bundledHooks = z
  .array(NewHook)
  .max(mostHooks, `must have at most ${mostHooks} entries`)
  .superRefine((hooks, context) => {
    for (const [index, hook] of hooks.entries()) {
      const message = replacingProblem(hook);
      if (message !== null) context.addIssue({ code: "custom", path: [index, "mutates"], message });
    }
  });

export const HookChanges = z
  .object(settable)
  .partial()
  .openapi("HookChanges", { example: { enabled: false } });
export type HookChanges = z.infer<typeof HookChanges>;

export const hookPath = slugParam.extend({
  id: z.string().openapi({ description: "The hook's id.", example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
});
