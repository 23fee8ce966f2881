import { z } from "@hono/zod-openapi";

/** The channel `agent` has nothing to set but its switch. */
export const AgentConfigChanges = z.object({}).openapi("AgentConfigChanges");
export const AgentConfigShown = z.object({}).openapi("AgentConfig");
