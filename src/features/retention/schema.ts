import { z } from "@hono/zod-openapi";
import { retentionSubjects } from "../../core/retention.ts";
import { Timestamp } from "../../http/shapes.ts";

const subject = z.enum(retentionSubjects).openapi({ description: "The rows that go.", example: "conversations" });
const days = z
  .int()
  .min(1, "must be 1 to 3650")
  .max(3650, "must be 1 to 3650")
  .openapi({ description: "The age at which rows are deleted.", example: 90 });

const NewPolicy = z
  .object({
    subject,
    enabled: z.boolean().default(false).openapi({ example: true }),
    days,
  })
  .openapi("NewRetentionPolicy");

const policies = z
  .array(NewPolicy)
  .max(retentionSubjects.length, `must be at most ${retentionSubjects.length}`)
  .refine((list) => new Set(list.map((policy) => policy.subject)).size === list.length, "must name each subject once")
  .openapi({ description: "Each subject once." });

export const NewPolicies = z.object({ policies }).openapi("NewRetentionPolicies");
export type NewPolicies = z.infer<typeof NewPolicies>;

const Policy = z
  .object({
    subject,
    enabled: z.boolean().openapi({ example: true }),
    days,
    nextRunAt: Timestamp.nullable().openapi({ description: "The next deletion; null while the policy is off." }),
    lastRunAt: Timestamp.nullable().openapi({ description: "The last deletion that was completed." }),
  })
  .openapi("RetentionPolicy");
export type Policy = z.infer<typeof Policy>;

export const Policies = z.object({ policies: z.array(Policy) }).openapi("RetentionPolicies");
export type Policies = z.infer<typeof Policies>;

export const PreviewRequest = z.object({ policies: policies.optional() }).openapi("RetentionPreviewRequest");
export type PreviewRequest = z.infer<typeof PreviewRequest>;

export const Counts = z.record(z.enum(retentionSubjects), z.int()).openapi({
  description: "The number of rows by subject.",
  example: Object.fromEntries(retentionSubjects.map((name) => [name, name === "conversations" ? 12 : 0])),
});
export type Counts = z.infer<typeof Counts>;

export const Preview = z.object({ counts: Counts }).openapi("RetentionPreview");
