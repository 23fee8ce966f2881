import { useSignal } from "@preact/signals";
import type { TaskRun } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { useRefresh } from "../../../../data/refresh.ts";
import { hrefOf } from "../../../../data/route.ts";
import { Failure } from "../../../../ui/note.tsx";
import { durationText } from "../../../../ui/numbers.ts";
import { Pager } from "../../../../ui/pager.tsx";
import { Table } from "../../../../ui/table.tsx";
import { Time } from "../../../../ui/time.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import { runLooks } from "./run-status.ts";

const limit = 10;
const everyMs = 3_000;

interface Props {
  slug: string;
  id: string;
  /** Changes with each run. */
  last: string;
}

/** What became of every run of a task. */
export function Runs({ slug, id, last }: Props) {
  const offset = useSignal(0);
  const { value, error, reload } = useLoaded(
    () => api.listTaskRuns({ slug, id, limit, offset: offset.value }),
    [slug, id, offset.value, last],
  );
  useRefresh(reload, everyMs);
  const page = value.value;
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting lines={2} />}
      {page?.total === 0 && <p class="soft">It has not run yet.</p>}
      {page && page.runs.length > 0 && (
        <Table
          label="Runs"
          rows={page.runs}
          keyOf={(run) => run.id}
          about={({ error: problem, output }) => problem ?? output?.slice(0, 200)}
          columns={[
            { title: "Run", cell: (run) => <Place run={run} /> },
            { title: "State", cell: ({ status }) => <span class={`badge ${runLooks[status]}`}>{status}</span> },
            { title: "Took", end: true, cell: ({ durationMs }) => durationText(durationMs) },
          ]}
        />
      )}
      {page && (
        <Pager
          {...page}
          onOffset={(next) => {
            offset.value = next;
          }}
        />
      )}
    </>
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
