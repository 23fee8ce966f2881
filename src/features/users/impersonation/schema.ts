import { z } from "@hono/zod-openapi";
import { zText } from "../../../core/text/text.ts";
import { Timestamp } from "../../../http/shapes.ts";

export const Impersonation = z
  .object({
    reason: zText(500).trim().min(10, "must be at least 10 characters").openapi({
      description: "For the audit logs; 10 to 500 characters.",
      example: "Ticket 4711: agents are missing",
    }),
    minutes: z.int().min(1).max(60).optional().openapi({ description: "30 when absent.", example: 30 }),
  })
  .openapi("Impersonation");
export type Impersonation = z.infer<typeof Impersonation>;

export const ImpersonationToken = z
  .object({
    token: z.string().openapi({
      description: "Send it as `Authorization: Bearer <token>`. Shown here and never again.",
      example: "aei_…",
    }),
    expiresAt: Timestamp,
  })
  .openapi("ImpersonationToken");
export type ImpersonationToken = z.infer<typeof ImpersonationToken>;
