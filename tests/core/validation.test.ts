import { expect, test } from "vitest";
import { z } from "zod";
import "../../src/core/validation.ts";

const told = (schema: z.ZodType, value: unknown) =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join(".")} ${message}`.trim());

test.each([
  [z.object({ slug: z.string() }), {}, "slug is required"],
  [z.object({ slug: z.string() }), { slug: 5 }, "slug must be a string"],
  [z.object({}), [], "must be an object"],
  [z.object({ on: z.boolean() }), { on: "yes" }, "on must be true or false"],
  [z.object({ list: z.array(z.int()) }), { list: "all" }, "list must be a list"],
  [z.array(z.int()), [1.5], "0 must be a whole number"],
  [z.record(z.string(), z.string()), "x", "must be an object"],
  [z.enum(["http", "stdio"]), "ftp", "must be one of: http, stdio"],
  [z.literal("mcp"), "x", "must be mcp"],
  [
    z.discriminatedUnion("type", [z.object({ type: z.literal("http") }), z.object({ type: z.literal("stdio") })]),
    { type: "ftp" },
    "type must be one of: http, stdio",
  ],
  [z.union([z.string(), z.array(z.string()), z.null()]), 5, "must be a string or a list or null"],
  [z.union([z.string().refine(() => false), z.number()]), "x", "is not valid"],
  [z.string().min(2), "x", "must have at least 2 characters"],
  [z.array(z.string()).max(1), ["a", "b"], "must have at most 1 entries"],
  [z.number().max(2), 9, "must be at most 2"],
  [z.email(), "x", "must be an e-mail address"],
  [z.string().regex(/a/), "x", "must be of another form"],
  [z.strictObject({}), { extra: 1 }, "must not have the fields: extra"],
  [z.string("must be kind"), 5, "must be kind"],
])("%#: a schema without a message of its own still says what to do", (schema, value, sentence) => {
  expect(told(schema, value)).toEqual([sentence]);
});
