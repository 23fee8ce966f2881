import type { z } from "@hono/zod-openapi";
import { isObject } from "../../core/json.ts";
import { invalid } from "../../http/errors.ts";
import { changesOf } from "./messengers/schema.ts";
import type { ChannelType } from "./rules.ts";
import { AgentConfigChanges } from "./schema.ts";
import { WebConfigChanges } from "./web/schema.ts";

const schemas = { web: WebConfigChanges, ...changesOf, agent: AgentConfigChanges } as const;

/** Read-only fields, which clients may send back. */
const shownOnly: Readonly<Record<ChannelType, readonly string[]>> = {
  web: ["apiKeyConfigured"],
  telegram: ["webhookUrl"],
  slack: ["webhookUrl"],
  whatsapp: ["webhookUrl"],
  agent: [],
};

/**
 * Parses the settings that a client sent for a channel; `undefined` counts as none. Throws the 400 with each wrong
 * field. Unknown fields are wrong too: a misspelt credential must not seem to be stored (decisions §3).
 */
export function parseConfig<Type extends ChannelType>(type: Type, sent: unknown): z.infer<(typeof schemas)[Type]> {
  const schema = schemas[type];
  const parsed = schema.safeParse(sent === undefined ? {} : sent);
  const unknown = unknownFields(type, Object.keys(schema.shape), sent);
  const problems = [...unknown, ...(parsed.error?.issues ?? [])];
  if (parsed.success && problems.length === 0) return parsed.data as z.infer<(typeof schemas)[Type]>;
  throw invalid(problems.map(({ path, message }) => ({ path: ["config", ...path], message })));
}

function unknownFields(type: ChannelType, known: readonly string[], sent: unknown) {
  const may = new Set([...known, ...shownOnly[type]]);
  const names = isObject(sent) ? Object.keys(sent).filter((name) => !may.has(name)) : [];
  const message = `is no field of ${type}, which has: ${known.join(", ") || "none"}`;
  return names.map((name) => ({ path: [name], message }));
}
