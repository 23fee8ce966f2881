import { z } from "@hono/zod-openapi";
import { addressProblem, connectionProviders } from "../../../core/models/providers.ts";
import { providerRoles } from "../../../core/models/roles.ts";
import { zText } from "../../../core/text/text.ts";
import { organizationPath } from "../../../http/shapes.ts";
import { slugParam } from "../../agents/index.ts";

const id = z.string().openapi({ description: "The connection's id." });
export const sharedPath = organizationPath.extend({ id });
export const privatePath = slugParam.extend({ id });

const keyRule = "6 to 8192 visible ASCII characters";

const baseUrl = zText(2048)
  .trim()
  .superRefine((address, context) => {
    const message = addressProblem(address);
    if (message !== null) context.addIssue({ code: "custom", message });
  });

const fields = {
  name: zText(64)
    .trim()
    .min(1, "must not be empty")
    .openapi({ description: "Unique in its scope.", example: "OpenAI" }),
  provider: z
    .enum(connectionProviders)
    .openapi({ description: "Fixed once the connection is made.", example: "openai" }),
  baseUrl: baseUrl.nullable().openapi({
    description:
      "Null: the provider's own address. `ollama` and `openai-compatible` need one. Leads to public addresses and the hosts of the policy `httpAllowedHosts` only.",
    example: null,
  }),
  apiKey: zText(8192)
    .nullable()
    .openapi({
      description: `${keyRule}; stored sealed, never shown again. An empty text and the hint keep the stored key.`,
      format: "password",
      example: "sk-of-your-provider",
    }),
  enabled: z
    .boolean()
    .openapi({ description: "A disabled connection is never called, but for a test.", example: true }),
  isDefault: z.boolean().openapi({
    description:
      "For shared connections: whether it answers for agents that bind none. An organization has one: a new one takes it over.",
    example: false,
  }),
};

export const NewConnection = z
  .object({
    name: fields.name,
    provider: fields.provider,
    baseUrl: fields.baseUrl.default(null),
    apiKey: fields.apiKey.default(null),
    enabled: fields.enabled.default(true),
    isDefault: fields.isDefault.default(false),
  })
  .openapi("NewProviderConnection");
export type NewConnection = z.infer<typeof NewConnection>;

export const ConnectionChanges = z
  .object(fields)
  .partial()
  .openapi("ProviderConnectionChanges", {
    example: { name: "OpenAI", enabled: false },
  });
export type ConnectionChanges = z.infer<typeof ConnectionChanges>;

const { apiKey: _written, ...shown } = fields;

export const unusable = z.enum(["not-admitted", "disabled", "no-key"]).nullable();

export const Connection = z
  .object({
    id: z.uuid(),
    ...shown,
    name: z.string().openapi({ example: "OpenAI" }),
    baseUrl: z.string().nullable().openapi({ description: "Null: the provider's own address.", example: null }),
    apiKeyHint: z
      .string()
      .nullable()
      .openapi({ description: "A mask of the stored key; null without one.", example: "••••85a5" }),
    usable: z.boolean().openapi({ description: "Whether turns may use it." }),
    reason: unusable.openapi({
      description:
        "Why not; null when they may. Whether a workspace admits a shared connection is told by its agents' options.",
      example: null,
    }),
    roles: z.array(z.enum(providerRoles)).openapi({
      description: "The roles that agents bind to it, as the first model or as a fallback.",
      example: ["chat"],
    }),
  })
  .openapi("ProviderConnection");
export type Connection = z.infer<typeof Connection>;

export const ConnectionAnswer = z.object({ connection: Connection }).openapi("ProviderConnectionAnswer");
export const Connections = z.object({ connections: z.array(Connection) }).openapi("ProviderConnections");

export const ConnectionTest = z
  .object({
    ok: z.boolean().openapi({ description: "Whether the provider answered, and accepted the key." }),
    latencyMs: z.int().nullable().openapi({ description: "Null without an answer.", example: 180 }),
    error: z.string().nullable().openapi({ description: "Why not.", example: null }),
  })
  .openapi("ProviderConnectionTest");
export type ConnectionTest = z.infer<typeof ConnectionTest>;
