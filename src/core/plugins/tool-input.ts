import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../json.ts";
import { lazy } from "../lazy.ts";

/** The schema of a tool's arguments as models get it, made at its first use: most agents use few tools. */
export function inputSchemaOf(input: z.ZodType): () => JsonObject {
  return lazy(() => {
    const { $schema: _, ...schema } = z.toJSONSchema(input, { io: "input" }) as JsonObject;
    return schema;
  });
}

/** The arguments of a call as `input` reads them. Throws an `Error` that tells the model what is wrong. */
export function readInput<Input extends z.ZodType>(input: Input, args: unknown): z.output<Input> {
  const parsed = input.safeParse(args);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => [...path, message].join(" "));
  throw new Error(`The arguments are not valid: ${problems.join("; ")}`);
}
