import { z } from "@hono/zod-openapi";
import { connectionProviders, isModelName, modelNameRule } from "../../../core/models/providers.ts";

const modelName = z.string().refine(isModelName, `must be ${modelNameRule}`).openapi({ example: "gpt-5-mini" });

const AdmittedProvider = z.object({
  provider: z.enum(connectionProviders).openapi({ example: "openai" }),
  models: z
    .array(modelName)
    .max(200, "must have at most 200 entries")
    .nullable()
    .openapi({ description: "Null: each model of the provider.", example: ["gpt-5-mini"] }),
});

const isDistinct = (list: readonly { provider: string }[]) =>
  new Set(list.map(({ provider }) => provider)).size === list.length;

const admitted = z
  .array(AdmittedProvider)
  .max(connectionProviders.length)
  .refine(isDistinct, "must not name a provider twice")
  .nullable()
  .openapi({ description: "Null: every provider. The built-in model `demo` is always admitted." });

const privateConnections = z.boolean().openapi({
  description: "Whether the agents may use private connections, and provider keys among their secrets.",
  example: true,
});

/** Without a default for `admitted`: a misspelled name would admit every provider. */
export const NewAdmission = z
  .object({ admitted, privateConnections: privateConnections.default(true) })
  .openapi("WorkspaceProvidersBody");
export type NewAdmission = z.infer<typeof NewAdmission>;

export const Admitted = z.object({ admitted, privateConnections }).openapi("WorkspaceProviders");
export type Admitted = z.infer<typeof Admitted>;

const UsableConnection = z.object({
  id: z.uuid(),
  name: z.string().openapi({ example: "OpenAI" }),
  shared: z.boolean().openapi({ description: "Whether it belongs to the organization." }),
  usable: z.boolean().openapi({ description: "Whether it is enabled and has what it needs." }),
});

export const AgentProviders = z
  .object({
    providers: z
      .array(
        z.object({
          provider: z.enum(connectionProviders).openapi({ example: "openai" }),
          models: z.array(z.string()).openapi({
            description:
              "The admitted models; where all are admitted, those that the engine knows, and every other one works too.",
            example: ["gpt-5-mini"],
          }),
          connections: z.array(UsableConnection),
        }),
      )
      .openapi({ description: "The providers that the agent's workspace admits." }),
    privateConnections,
  })
  .openapi("AgentProviders");
export type AgentProviders = z.infer<typeof AgentProviders>;
