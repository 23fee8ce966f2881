import { z } from "@hono/zod-openapi";
import { connectionProviders, isModelName, modelNameRule } from "../../../core/models/providers.ts";
import { providerRoles } from "../../../core/models/roles.ts";
import { slugParam } from "../../agents/index.ts";
import { unusable } from "../connections/schema.ts";

export const rolePath = slugParam.extend({
  role: z.string().openapi({ description: `One of ${providerRoles.join(", ")}.`, example: "chat" }),
});

const modelName = z.string().refine(isModelName, `must be ${modelNameRule}`).openapi({ example: "gpt-5-mini" });

const connectionId = z.uuid().toLowerCase();

const usual = "Null: the usual model of the provider.";

const Fallback = z.object({
  connectionId: connectionId.openapi({ description: "A connection among the role's options." }),
  model: modelName.nullable().default(null).openapi({ description: usual }),
});

export const NewBinding = z
  .object({
    connectionId: connectionId.nullable().openapi({
      description: "A connection among the role's options; null binds none, and ignores the other fields.",
      example: "01936b2e-8f00-7a31-9c54-2f1d0a6b7c8d",
    }),
    model: modelName.nullable().default(null).openapi({ description: usual }),
    fallbacks: z.array(Fallback).max(3, "must have at most 3 entries").default([]).openapi({
      description: "Tried in this order when a model call fails before it has said anything.",
      example: [],
    }),
  })
  .openapi("RoleBinding");
export type NewBinding = z.infer<typeof NewBinding>;

const connectionFields = {
  name: z.string().openapi({ example: "OpenAI" }),
  provider: z.enum(connectionProviders).openapi({ example: "openai" }),
  shared: z.boolean().openapi({ description: "Whether it belongs to the organization." }),
};

export const ProviderRole = z
  .object({
    role: z.enum(providerRoles).openapi({ example: "chat" }),
    connection: z
      .object({ id: z.uuid(), ...connectionFields })
      .nullable()
      .openapi({ description: "The connection of the first model; null without one." }),
    model: z.string().nullable().openapi({
      description: "The model that is configured to answer; null where none is.",
      example: "gpt-5-mini",
    }),
    fallbacks: z
      .array(z.object({ connectionId: z.uuid(), model: z.string() }))
      .openapi({ description: "The bound models after the first one.", example: [] }),
    source: z.enum(["bound", "default", "environment", "none"]).openapi({
      description:
        "Where the model comes from: the agent's binding, the organization's default connection, or the keys of the environment. `none` also stands for the built-in model of an agent without any of them.",
    }),
    usable: z.boolean().openapi({ description: "Whether a model may answer: the first one or a fallback." }),
    reason: unusable.openapi({ description: "Why none may.", example: null }),
    options: z
      .array(
        z.object({
          connectionId: z.uuid(),
          ...connectionFields,
          models: z.array(z.string()).openapi({
            description:
              "Models to choose from. Where the workspace admits all models, every other one of the provider works too.",
            example: ["gpt-5-mini"],
          }),
        }),
      )
      .openapi({ description: "The connections that the agent may bind to the role." }),
  })
  .openapi("ProviderRole");
export type ProviderRole = z.infer<typeof ProviderRole>;

export const RoleAnswer = z.object({ role: ProviderRole }).openapi("ProviderRoleAnswer");
export const RoleList = z.object({ roles: z.array(ProviderRole) }).openapi("ProviderRoles");
