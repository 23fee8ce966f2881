import { z } from "@hono/zod-openapi";
import { httpAddress } from "./config.ts";
import { isProviderName, splitModel } from "./providers.ts";
import { zInt4, zText } from "./text.ts";

const namesProviderAndModel = (value: string) => {
  const { provider, model } = splitModel(value);
  return provider !== null && isProviderName(provider) && model.trim() !== "";
};

const Host = zText(260)
  .regex(
    /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:\d{1,5})?$/i,
    "must be a host, or a host and a port, such as internal.example.com:8080",
  )
  .toLowerCase();

/** What may change while the installation runs, with its defaults (decisions §11). */
export const Policies = z
  .object({
    publicAddress: httpAddress.nullable().default(null).openapi({
      description: "Where clients and messengers reach the installation; null: `BASE_URL`.",
      example: "https://agents.example.com",
    }),
    defaultModel: zText(256)
      .refine(namesProviderAndModel, "must be provider:model, such as openai:gpt-5-mini")
      .nullable()
      .default(null)
      .openapi({
        description: "For agents that name no model; null: the first provider with a key decides.",
        example: "openai:gpt-5-mini",
      }),
    environmentKeys: z
      .enum(["all", "first-organization", "none"])
      .default("all")
      .openapi({ description: "Whose agents may use the provider keys of the server's environment." }),
    debounceMs: zInt4(0, 60_000).default(2_000).openapi({
      description: "Messages of a conversation within this time of each other are one turn.",
    }),
    typingDelayMs: zInt4(0, 60_000).default(1_500).openapi({ description: "How long before a typing sign is sent." }),
    maxRestarts: zInt4(0, 20).default(3).openapi({ description: "How often new messages may restart a turn." }),
    rateLimit: z
      .object({
        limit: zInt4(1, 1_000_000).openapi({ example: 600 }),
        windowSeconds: zInt4(1, 3_600).openapi({ example: 60 }),
      })
      .default({ limit: 600, windowSeconds: 60 })
      .openapi({ description: "Calls of management routes that each caller may make in a window." }),
    activityConnections: z
      .object({
        total: zInt4(1, 100_000).openapi({ example: 200 }),
        perUser: zInt4(1, 10_000).openapi({ example: 10 }),
      })
      .default({ total: 200, perUser: 10 })
      .openapi({ description: "Activity streams open at a time." }),
    agentCallTimeoutSeconds: zInt4(1, 3_600)
      .default(60)
      .openapi({ description: "How long one agent waits for another." }),
    toolTimeoutSeconds: zInt4(1, 3_600).default(60).openapi({ description: "How long a tool may run." }),
    modelTimeoutSeconds: zInt4(1, 3_600).default(300).openapi({ description: "How long a turn may take in all." }),
    httpAllowedHosts: z
      .array(Host)
      .max(256)
      .default([])
      .openapi({
        description: "Hosts inside the network that tools may reach all the same.",
        example: ["erp.internal:8080"],
      }),
    roomSlots: zInt4(1, 256).default(4).openapi({ description: "Room turns at a time, on each replica." }),
    tracingBaseUrl: httpAddress.nullable().default(null).openapi({
      description: "Where traces are sent; null: the tracing service's own address.",
    }),
    retentionDays: zInt4(1, 36_500)
      .nullable()
      .default(null)
      .openapi({ description: "How long entries of the audit log are kept; null: for good." }),
  })
  .openapi("Policies");
export type Policies = z.infer<typeof Policies>;

export const defaultPolicies: Policies = Policies.parse({});

/**
 * What is stored, over the defaults. A value that this release can't take, such as one of a later release, counts as
 * absent; `ignored` names it.
 */
export function readPolicies(stored: Readonly<Record<string, unknown>>): { policies: Policies; ignored: string[] } {
  const entries: [string, unknown][] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(stored)) {
    const shape = Object.hasOwn(Policies.shape, name) ? Policies.shape[name as keyof Policies] : undefined;
    if (shape?.safeParse(value).success) entries.push([name, value]);
    else ignored.push(name);
  }
  return { policies: Policies.parse(Object.fromEntries(entries)), ignored };
}

/** The policies as this process knows them. Whoever loads or changes them puts them here. */
export class CurrentPolicies {
  #values = defaultPolicies;

  get values(): Policies {
    return this.#values;
  }

  set(values: Policies): void {
    this.#values = values;
  }
}
