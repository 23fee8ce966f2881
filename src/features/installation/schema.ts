import { z } from "@hono/zod-openapi";
import { PolicyChanges, Policies as Stored } from "../../core/policies.ts";

const Policies = Stored.extend({
  publicAddress: z.string().openapi({
    description: "Where clients and messengers reach the installation: `BASE_URL` unless this policy is set.",
    example: "https://agents.example.com",
  }),
}).openapi("Policies");

export const PoliciesAnswer = z.object({ policies: Policies }).openapi("PoliciesAnswer");
export type PoliciesAnswer = z.infer<typeof PoliciesAnswer>;

export const PoliciesBody = PolicyChanges.openapi("PolicyChanges", {
  example: { defaultModel: "openai:gpt-5-mini", rateLimit: { limit: 1_200 } },
});
