import { z } from "@hono/zod-openapi";
import { defineJob } from "../../../jobs/define.ts";
import { converseJob } from "../ledger/work.ts";

const Payload = z.object({
  agentId: z.uuid(),
  /** Whether somebody wants a turn now, also without events. */
  run: z.boolean().optional(),
});

/** Takes a turn of an agent's Room. */
export const evaluateJob = defineJob("room.evaluate", Payload, ({ agentId }) => agentId);

/** The kinds of the jobs that take turns which nobody asked for in person. */
export const ownWorkKinds = [evaluateJob.kind, converseJob.kind, "task.run"] as const;
