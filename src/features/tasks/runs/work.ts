import { z } from "@hono/zod-openapi";
import { defineJob } from "../../../jobs/define.ts";

/** Runs a task once. */
export const runJob = defineJob("task.run", z.object({ runId: z.uuid() }), ({ runId }) => runId);
