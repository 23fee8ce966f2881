import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { zForm } from "../tool.ts";

export const id = zForm(/^\d{1,20}$/, "must be an id, which is made of digits");

export const contact = zForm(
  /^(\d{1,20}|[^\s\p{Cc}@]{1,64}@[^\s\p{Cc}@]{1,200})$/u,
  "must be an id of digits or an e-mail address",
).describe("The contact's id or e-mail address.");

export const deal = id.describe("The deal's id.");

export const ids = z.array(id).max(50);

const internalName = /^[a-z][a-z0-9_]{0,99}$/;
const internalNameMessage = "must be the internal name of a property, such as firstname";
const property = zForm(internalName, internalNameMessage).describe("Its internal name, such as firstname.");

/** Values to write. HubSpot takes each of them as a text. */
export const writtenProperties = z
  .object({})
  .catchall(z.union([zText(65_536), z.number(), z.boolean()]))
  .superRefine((values, context) => {
    for (const name of Object.keys(values).filter((name) => !internalName.test(name))) {
      context.addIssue({ code: "custom", path: [name], message: internalNameMessage });
    }
  })
  .refine((values) => Object.keys(values).length > 0, { message: "must have at least one property" })
  .transform((values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)])));

export const moreProperties = z
  .array(property)
  .max(50)
  .default([])
  .describe("Properties to give besides the usual ones.");

const texts = z.array(zText(1_000)).min(1, "must not be empty").max(100);

const filter = z
  .object({
    property,
    operator: z.enum([
      ...(["EQ", "NEQ", "LT", "LTE", "GT", "GTE", "BETWEEN", "IN", "NOT_IN"] as const),
      ...(["HAS_PROPERTY", "NOT_HAS_PROPERTY", "CONTAINS_TOKEN", "NOT_CONTAINS_TOKEN"] as const),
    ]),
    value: zText(1_000).optional().describe("For all but IN, NOT_IN and the two HAS_PROPERTY."),
    highValue: zText(1_000).optional().describe("The upper end, for BETWEEN."),
    values: texts.optional().describe("For IN and NOT_IN; in lower case."),
  })
  .superRefine(({ operator, value, highValue, values }, context) => {
    const needed = operandOf(operator, { value, highValue, values });
    if (needed !== null) context.addIssue(`needs ${needed} with the operator ${operator}`);
  });

type Operands = Pick<z.infer<typeof filter>, "value" | "highValue" | "values">;

/** The name of the operand that an operator lacks; null when it lacks none. */
function operandOf(operator: string, { value, highValue, values }: Operands): string | null {
  if (operator.endsWith("HAS_PROPERTY")) return null;
  if (operator.endsWith("IN")) return values === undefined ? "values" : null;
  if (value === undefined) return "value";
  return operator === "BETWEEN" && highValue === undefined ? "highValue" : null;
}

export const pageFields = {
  limit: z.int().min(1).max(100).default(20),
  after: zText(100).min(1, "must not be empty").optional().describe("Take `next` of the page before."),
};

export const search = z.object({
  query: zText(3_000).min(1, "must not be empty").optional().describe("Words to find in names, e-mails and the like."),
  filters: z.array(filter).max(6).default([]).describe("All must match."),
  sortBy: property.optional(),
  descending: z.boolean().default(false),
  properties: moreProperties,
  ...pageFields,
});

export type Search = z.infer<typeof search>;
