import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { mostCounted, page, pageQuery, wholeNumber } from "../../http/paging.ts";
import { isInOrder, notInOrder, periodQuery } from "../../http/period.ts";
import { Timestamp } from "../../http/shapes.ts";
import { mostSkipped, searchDays } from "./rules.ts";

const tooFar = `must be at most ${mostSkipped}: narrow the period with from and to`;
const bounded = `Without \`from\` the last ${searchDays} days, before \`to\`, are looked at: give an earlier \`from\` for more.`;

export const AuditQuery = z
  .object({
    instanceId: zText(128)
      .optional()
      .openapi({ description: "Slug of the agent that was changed; deleted ones too.", example: "support" }),
    actor: zText(256)
      .optional()
      .openapi({
        description: `Id, name or type (\`user\`, \`key\`, \`system\`) of who acted, exactly. ${bounded}`,
        example: "user",
      }),
    action: zText(128).optional().openapi({
      description: "The action, exactly; with `.` or `*` at its end, all that begin so.",
      example: "agent.",
    }),
    search: zText(256)
      .optional()
      .openapi({
        description: `Part of the target, the actor's name or the action, in upper or lower case. ${bounded}`,
      }),
    ...periodQuery,
    limit: pageQuery(50, 200).limit,
    offset: wholeNumber(0, mostSkipped, tooFar).optional().openapi({
      type: "integer",
      minimum: 0,
      maximum: mostSkipped,
      description: "How many to skip; to go back further, give a `to`.",
      example: 0,
    }),
  })
  .refine(isInOrder, notInOrder);
export type AuditQuery = z.infer<typeof AuditQuery>;

export const AuditStatsQuery = z.object(periodQuery);
export type AuditStatsQuery = z.infer<typeof AuditStatsQuery>;

const Actor = z.object({
  type: z.enum(["user", "key", "system"]).openapi({
    description: "`key`: a management key. `system`: the engine itself, or somebody without an account.",
    example: "user",
  }),
  id: z.string().nullable().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
  name: z.string().nullable().openapi({ description: "As it was then.", example: "Ada" }),
});

const action = z.string().openapi({ example: "agent.update" });
const count = z.int().openapi({ example: 12 });

export const AuditEntry = z
  .object({
    id: z.string().openapi({ example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d" }),
    actor: Actor,
    action,
    target: z.string().nullable().openapi({ description: "What it was done to.", example: "support" }),
    instanceId: z.string().nullable().openapi({ description: "Slug of the agent, if one was changed." }),
    success: z.boolean(),
    details: z.record(z.string(), z.unknown()).openapi({
      description:
        "More about it; never a secret, nor what is stored sealed. Of an update, `changes` tells each field from what to what; of long texts where they begin to differ. `replaced` names what changed and is not shown.",
      example: { changes: { name: { from: "Support", to: "Help" } } },
    }),
    ip: z.string().nullable().openapi({
      description:
        "Null: it came from the machine itself, or it is what somebody did with an account that joined another organization first, whose log has it.",
      example: "192.0.2.1",
    }),
    createdAt: Timestamp,
  })
  .openapi("AuditEntry");
export type AuditEntry = z.infer<typeof AuditEntry>;

export const AuditPage = z
  .object({
    items: z.array(AuditEntry),
    ...page,
    total: z.int().openapi({
      description: `Exact up to ${mostSkipped}; ${mostCounted} means that there are more than that.`,
      example: 12,
    }),
  })
  .openapi("AuditPage");
export type AuditPage = z.infer<typeof AuditPage>;

export const AuditStats = z
  .object({
    total: count,
    failures: count,
    actions: z.array(z.object({ action, count })).openapi({ description: "The 50 most frequent." }),
    actors: z.array(z.object({ actor: Actor, count })).openapi({ description: "The 20 most active." }),
    daily: z
      .array(z.object({ date: z.string().openapi({ example: "2026-11-21" }), count, failures: count }))
      .openapi({ description: "Every UTC day of the period." }),
  })
  .openapi("AuditStats");
export type AuditStats = z.infer<typeof AuditStats>;
