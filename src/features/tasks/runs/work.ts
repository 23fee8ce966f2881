/** The kind of the jobs that run a task once; their key is the run's id. */
export const runKind = "task.run";

/** The job of a run. */
export const runWork = (runId: string) => ({
  kind: runKind,
  key: runId,
  payload: { runId },
  runAt: new Date(0),
});
