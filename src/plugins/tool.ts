import { z } from "@hono/zod-openapi";
import type { JsonValue } from "../core/json.ts";
import type { PluginContext, PluginTool } from "../core/plugins/plugin.ts";
import { inputSchemaOf, readInput } from "../core/plugins/tool-input.ts";

interface Description<Input extends z.ZodObject> {
  name: string;
  description: string;
  input: Input;
  /** Whether a call changes something; such a call is never retried. */
  writes: boolean;
  /** Whether a person decides about each call; like `writes` unless given. */
  needsApproval?: boolean;
  execute(input: z.output<Input>, context: PluginContext): Promise<JsonValue>;
}

/**
 * A text of a form. The schema that models get says nothing of the form, because some servers of models refuse schemas
 * with patterns: describe it.
 */
export function zForm(form: RegExp, message: string) {
  return z.string().refine((text) => form.test(text), { message });
}

/**
 * A tool whose arguments are described and checked by `input`. The engine checks them by the schema too, but not those
 * with very long texts.
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
