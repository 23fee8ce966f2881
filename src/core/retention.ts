/** The kinds of rows that a retention policy of an organization deletes by age (managed M13). */
export const retentionSubjects = [
  "conversations",
  "memories",
  "files",
  "room_events",
  "task_runs",
  "hook_executions",
  "governance_verdicts",
  "turns",
] as const;
export type RetentionSubject = (typeof retentionSubjects)[number];
