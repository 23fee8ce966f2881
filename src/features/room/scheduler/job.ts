import { z } from "@hono/zod-openapi";
import { defineJob } from "../../../jobs/define.ts";

const Payload = z.object({
  agentId: z.uuid(),
  /** Whether somebody wants a turn now, also without events. */
  run: z.boolean().optional(),
});

/** Takes a turn of an agent's Room. */
export const evaluateJob = defineJob("room.evaluate", Payload, ({ agentId }) => agentId);
