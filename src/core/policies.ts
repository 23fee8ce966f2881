import { z } from "@hono/zod-openapi";
import { bareAddress } from "./config.ts";
import { isModelName, splitModel } from "./models/providers.ts";
import { zInt4, zText } from "./text/text.ts";

const namesProviderAndModel = (value: string) => {
  const { provider, model } = splitModel(value);
  return provider !== null && isModelName(model);
};

const portOf = (host: string) => Number(/:(\d+)$/.exec(host.replace(/^\[.*\]/, ""))?.[1] ?? 1);

const Host = zText(260)
  .regex(
    /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(:\d{1,5})?$/,
    "must be a host, or a host and a port, such as internal.example.com:8080",
  )
  .refine((host) => portOf(host) >= 1 && portOf(host) <= 65_535, "must have a port between 1 and 65535")
  .toLowerCase();

/** The smallest request limit: with a lower one, pages and scripts would be refused halfway. */
const leastCalls = 10;

const RateLimit = z.object({
  limit: zInt4(leastCalls, 1_000_000).openapi({ example: 600 }),
  windowSeconds: zInt4(1, 3_600).openapi({ example: 60 }),
});
const ofCalls = {
  description:
    "Calls of management routes, of the native stream and of `/v1/models` that each caller may make in a window: a user, a management key, an agent's key at a client address, and without valid credentials an address. Those of the installation, such as this one, are counted apart, and are at least 60. Chat completions have a limit of their own.",
};

const Connections = z.object({
  total: zInt4(1, 100_000).openapi({ example: 200 }),
  perUser: zInt4(1, 10_000).openapi({ example: 10 }),
});
const ofStreams = { description: "Activity streams open at a time, on each replica." };

const mostMegabytes = 100_000_000;

const FileMegabytes = z.object({
  total: zInt4(1, mostMegabytes).openapi({ example: 10_240 }),
  perUser: zInt4(1, mostMegabytes).openapi({ example: 1_024 }),
});
const ofFiles = {
  description:
    "MiB that the files of an agent may have on this machine, in all and of each end user, group, topic or thread. What would make more is refused, and what is stored stays. Files in S3 do not count.",
};

/** The policies: settings that may change at run time (decisions §11). */
export const Policies = z.object({
  publicAddress: bareAddress.nullable().openapi({
    description: "Where clients and messengers reach the installation; null: `BASE_URL`.",
    example: "https://agents.example.com",
  }),
  defaultModel: z
    .string()
    .refine(namesProviderAndModel, "must be provider:model, such as openai:gpt-5-mini")
    .nullable()
    .openapi({
      description: "For agents that name no model; null: the first provider with a key decides.",
      example: "openai:gpt-5-mini",
    }),
  environmentKeys: z
    .enum(["all", "first-organization", "none"], "must be one of: all, first-organization, none")
    .openapi({ description: "Whose agents may use the provider keys and addresses of the server's environment." }),
  debounceMs: zInt4(0, 60_000).openapi({
    description: "Messages of a conversation within this time of each other are one turn.",
    example: 2_000,
  }),
  typingDelayMs: zInt4(0, 60_000).openapi({ description: "How long before a typing sign is sent.", example: 1_500 }),
  maxRestarts: zInt4(0, 20).openapi({ description: "How often new messages may restart a turn.", example: 3 }),
  rateLimit: RateLimit.openapi(ofCalls),
  activityConnections: Connections.openapi(ofStreams),
  fileMegabytes: FileMegabytes.openapi(ofFiles),
  agentCallTimeoutSeconds: zInt4(1, 3_600).openapi({
    description: "How long one agent waits for another.",
    example: 60,
  }),
  toolTimeoutSeconds: zInt4(1, 3_600).openapi({ description: "How long a tool may run.", example: 60 }),
  modelTimeoutSeconds: zInt4(1, 3_600).openapi({
    description:
      "How long a turn may take in all, without its hooks; its model may be silent for half of it, or a minute.",
    example: 300,
  }),
  httpAllowedHosts: z
    .array(Host)
    .max(256, "must have at most 256 entries")
    .openapi({
      description:
        "Hosts inside the network that tools, plugins and the provider addresses of agents may reach all the same.",
      example: ["erp.internal:8080"],
    }),
  roomSlots: zInt4(1, 256).openapi({ description: "Room turns at a time, on each replica.", example: 4 }),
  tracingBaseUrl: bareAddress.nullable().openapi({
    description: "The Langfuse server that agents are traced by; null: `https://cloud.langfuse.com`.",
    example: null,
  }),
  retentionDays: zInt4(1, 36_500)
    .nullable()
    .openapi({ description: "How long entries of the audit log are kept; null: for good.", example: null }),
});
export type Policies = z.infer<typeof Policies>;

/** Some of the policies, and some fields of those that are objects. */
export const PolicyChanges = Policies.extend({
  rateLimit: RateLimit.partial().openapi(ofCalls),
  activityConnections: Connections.partial().openapi(ofStreams),
  fileMegabytes: FileMegabytes.partial().openapi(ofFiles),
}).partial();
export type PolicyChanges = z.infer<typeof PolicyChanges>;

export const defaultPolicies: Policies = {
  publicAddress: null,
  defaultModel: null,
  environmentKeys: "all",
  debounceMs: 2_000,
  typingDelayMs: 1_500,
  maxRestarts: 3,
  rateLimit: { limit: 600, windowSeconds: 60 },
  activityConnections: { total: 200, perUser: 10 },
  fileMegabytes: { total: 10_240, perUser: 1_024 },
  agentCallTimeoutSeconds: 60,
  toolTimeoutSeconds: 60,
  modelTimeoutSeconds: 300,
  httpAllowedHosts: [],
  roomSlots: 4,
  tracingBaseUrl: null,
  retentionDays: null,
};

/**
 * The policies: stored values where they exist, else the defaults. A value that this release can't read, such as one of
 * a later release, counts as absent; `ignored` lists its policy.
 */
export function readPolicies(stored: Readonly<Record<string, unknown>>): { policies: Policies; ignored: string[] } {
  const entries: [string, unknown][] = [];
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(stored)) {
    if (isPolicy(name, value)) entries.push([name, value]);
    else ignored.push(name);
  }
  return { policies: over(Object.fromEntries(entries)), ignored: ignored.sort() };
}

/** Whether this release has a policy `name` that accepts `value`, as a whole or as a part of its object. */
export function isPolicy(name: string, value: unknown): boolean {
  if (!Object.hasOwn(PolicyChanges.shape, name)) return false;
  return value !== undefined && PolicyChanges.shape[name as keyof PolicyChanges].safeParse(value).success;
}

function over({ rateLimit, activityConnections, fileMegabytes, ...plain }: PolicyChanges): Policies {
  return Policies.parse({
    ...defaultPolicies,
    ...plain,
    rateLimit: { ...defaultPolicies.rateLimit, ...rateLimit },
    activityConnections: { ...defaultPolicies.activityConnections, ...activityConnections },
    fileMegabytes: { ...defaultPolicies.fileMegabytes, ...fileMegabytes },
  });
}

type Keys = ReadonlyMap<string, string>;
const noKeys: Keys = new Map();

/**
 * The environment's keys and addresses that agents of an organization may use. `first`: it is the first organization.
 */
export function usableKeys({ environmentKeys }: Policies, keys: Keys, first: boolean): Keys {
  if (environmentKeys === "all") return keys;
  return environmentKeys === "first-organization" && first ? keys : noKeys;
}

/** The policies that this process applies. Code that loads or changes policies calls `set`. */
export class CurrentPolicies {
  #values = defaultPolicies;
  #revision = 0;
  #reported = "";

  get values(): Policies {
    return this.#values;
  }

  /** Sets the policies, unless a newer revision is known: responses of the database may arrive out of order. */
  set(values: Policies, revision = this.#revision): void {
    if (revision < this.#revision) return;
    this.#revision = revision;
    this.#values = values;
  }

  /** Whether ignored names should be logged: there are some, and not the same as in the last call. */
  isNews(ignored: readonly string[]): boolean {
    const names = ignored.join();
    const news = names !== "" && names !== this.#reported;
    this.#reported = names;
    return news;
  }
}
