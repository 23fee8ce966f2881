import { z } from "@hono/zod-openapi";
import type { JsonValue } from "../core/json.ts";
import type { PluginContext, PluginTool } from "../core/plugins/plugin.ts";
import { inputSchemaOf, readInput } from "../core/plugins/tool-input.ts";

interface Description<Input extends z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  /** Whether a call changes something. Such a call is never retried. */
  writes: boolean;
  /** Whether a person decides about each call; absent: only about calls that write. */
  needsApproval?: boolean;
  execute(input: z.output<Input>, context: PluginContext): Promise<JsonValue>;
}

/**
 * A text of a certain form. The schema for models does not contain the form, since some model servers refuse patterns:
 * mention the form in the description.
 */
export function zForm(form: RegExp, message: string) {
  return z.string().refine((text) => form.test(text), { message });
}

/**
 * A tool with a schema for its `input`. It checks its arguments itself, too: the engine does not check very long texts.
 */
export function describeTool<Input extends z.ZodObject>(description: Description<Input>): PluginTool {
  const { name, input, writes, needsApproval = writes, execute } = description;
  const parameters = inputSchemaOf(input);
  return {
    name,
    description: description.description,
    get parameters() {
      return parameters();
    },
    effect: writes ? "external" : "none",
    needsApproval,
    execute: async (args, context) => execute(readInput(input, args), context),
  };
}
