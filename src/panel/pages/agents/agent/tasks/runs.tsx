import type { TaskRun } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { hrefOf } from "../../../../data/route.ts";
import { List } from "../../../../ui/list/list.tsx";
import { durationText } from "../../../../ui/text/numbers.ts";
import { Time } from "../../../../ui/text/time.tsx";

export const runLooks: Readonly<Record<TaskRun["status"], "good" | "warn" | "bad" | "">> = {
  queued: "",
  running: "warn",
  completed: "good",
  failed: "bad",
  missed: "warn",
  skipped: "warn",
};

interface Props {
  slug: string;
  id: string;
  /** A value that is different after each run. */
  last: string;
}

/** The runs of a task, with their outcomes. */
export function Runs({ slug, id, last }: Props) {
  const runs = useList("runs", (part) => api.listTaskRuns({ slug, id, ...part }), [slug, id], {
    limit: 10,
    everyMs: 3_000,
    last,
  });
  return (
    <List
      of={runs}
      lines={2}
      empty="It has not run yet."
      label="Runs"
      keyOf={(run) => run.id}
      about={({ error: problem, output }) => problem ?? output?.slice(0, 200)}
      columns={[
        { title: "Run", cell: (run) => <Place run={run} /> },
        { title: "State", cell: ({ status }) => <span class={`badge ${runLooks[status]}`}>{status}</span> },
        { title: "Took", end: true, cell: ({ durationMs }) => durationText(durationMs) },
      ]}
    />
  );
}

function Place({ run: { dueAt, conversationId } }: { run: TaskRun }) {
  if (conversationId === null) return <Time at={dueAt} />;
  return (
    <a href={hrefOf(["conversations", conversationId])}>
      <Time at={dueAt} />
    </a>
  );
}
