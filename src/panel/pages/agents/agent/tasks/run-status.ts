import type { TaskRun } from "../../../../../client/index.ts";

export const runLooks: Readonly<Record<TaskRun["status"], "good" | "warn" | "bad" | "">> = {
  ...{ queued: "", running: "warn", completed: "good", failed: "bad", missed: "warn", skipped: "warn" },
};
