import { z } from "@hono/zod-openapi";
import type { JsonValue } from "../../../core/json.ts";
import { zText } from "../../../core/text/text.ts";
import { longestPath, pathProblem, valueAt } from "./path.ts";

const mostConditions = 20;
const longestText = 1_000;

const EventCondition = z
  .object({
    path: zText(longestPath)
      .superRefine((path, context) => {
        const message = pathProblem(path);
        if (message !== null) context.addIssue({ code: "custom", message });
      })
      .openapi({
        description:
          'Where the value stands in the payload: names of fields and indexes of lists, with dots between them. A name that has dots itself stands quoted in brackets: `labels["app.kubernetes.io/name"]`.',
        example: "issue.labels.0.name",
      }),
    equals: z
      .union([zText(longestText), z.number(), z.boolean()])
      .nullable()
      .openapi({
        description:
          "What the value must be, its type included. All values of a form are strings, and so are whole numbers beyond 9007199254740991.",
        example: "bug",
      }),
  })
  .openapi("EventCondition");
export type EventCondition = z.infer<typeof EventCondition>;

/** The conditions of a definition. */
export const EventConditions = z.array(EventCondition).max(mostConditions).openapi({
  description: "What must hold before the model is asked, which costs tokens: all of it.",
});

/** The first condition that the payload does not meet; null when it meets all. A missing value differs from null. */
export function unmetCondition(conditions: readonly EventCondition[], payload: JsonValue): EventCondition | null {
  return conditions.find(({ path, equals }) => valueAt(payload, path) !== equals) ?? null;
}
