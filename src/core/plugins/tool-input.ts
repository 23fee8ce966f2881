import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../json.ts";
import { lazy } from "../lazy.ts";

/** The schema of a tool's arguments for models, made at its first use, since most agents use few tools. */
export function inputSchemaOf(input: z.ZodType): () => JsonObject {
  return lazy(() => {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" }) as JsonObject;
    return schema;
  });
}

/** Parses a call's arguments with `input`. Throws an `Error` that tells the model its mistake. */
export function readInput<Input extends z.ZodType>(input: Input, args: unknown): z.output<Input> {
  const parsed = input.safeParse(args);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(" "));
  throw new Error(`The arguments are not valid: ${problems.join("; ")}`);
}
