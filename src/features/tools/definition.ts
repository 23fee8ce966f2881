import type { z } from "@hono/zod-openapi";
import type { PluginSecret } from "../../core/plugins/plugin.ts";
import { inputSchemaOf, readInput } from "../../core/plugins/tool-input.ts";
import type { JsonValue, Tool, ToolContext } from "../../turn/types.ts";

type ToolOrigin = "builtin" | "plugin" | "mcp" | "agent";

/** A secret of the agent that a tool needs (decisions §4). */
type RequiredSecret = PluginSecret;

/** A tool in catalogues. */
export interface ToolDefinition {
  /** Canonical, such as `httpRequest`, `<namespace>:<tool>` or `agent:<slug>`. */
  name: string;
  description: string;
  category: string;
  origin: ToolOrigin;
  requiredSecrets: readonly RequiredSecret[];
}

/** A tool of the engine, described. A feature adds the function that executes it. */
export interface BuiltinTool<Input> extends ToolDefinition {
  implement(execute: (input: Input, context: ToolContext) => Promise<JsonValue>): Tool;
}

interface Description<Schema extends z.ZodType> {
  name: string;
  description: string;
  category: string;
  input: Schema;
  effect: Tool["effect"];
  seesSecrets: boolean;
}

/** Describes a tool of the engine for catalogues and models, and checks a model's arguments by `input`. */
export function builtin<Schema extends z.ZodType>({
  input,
  effect,
  seesSecrets,
  ...shown
}: Description<Schema>): BuiltinTool<z.output<Schema>> {
  const inputSchema = inputSchemaOf(input);
  return {
    ...shown,
    origin: "builtin",
    requiredSecrets: [],
    implement: (execute) => ({
      name: shown.name,
      description: shown.description,
      get inputSchema() {
        return inputSchema();
      },
      effect,
      seesSecrets,
      needsApproval: false,
      validate: (args) => readInput(input, args),
      execute: (args, context) => execute(args as z.output<Schema>, context),
    }),
  };
}
