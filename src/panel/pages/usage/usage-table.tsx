import { useSignal } from "@preact/signals";
import { Download } from "lucide";
import { useAction } from "../../data/action.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { download } from "../../ui/download.ts";
import { endUserText } from "../../ui/end-user.ts";
import { Icon } from "../../ui/icon.tsx";
import { Failure } from "../../ui/note.tsx";
import { countText } from "../../ui/numbers.ts";
import { Pager } from "../../ui/pager.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { csvOf, type UsageRow } from "./csv.ts";

export interface Asked {
  from: string;
  to: string;
  instanceId?: string;
}

interface Props {
  by: "agent" | "user";
  asked: Asked;
}

const limit = 20;

const numbers: readonly Column<UsageRow>[] = [
  { title: "Turns", end: true, cell: ({ turns }) => countText(turns) },
  { title: "Tokens in", end: true, cell: ({ promptTokens }) => countText(promptTokens) },
  { title: "Tokens out", end: true, cell: ({ completionTokens }) => countText(completionTokens) },
  { title: "Tokens", end: true, cell: ({ totalTokens }) => countText(totalTokens) },
];

/** Who used how much, the most first. */
export function UsageTable({ by, asked }: Props) {
  const offset = useSignal(0);
  const { value, error, reload } = useLoaded(
    (signal) => api.getUsage({ by, ...asked, limit, offset: offset.value }, { signal }),
    [by, asked.from, asked.to, asked.instanceId, offset.value],
  );
  const page = value.value;
  const isAgents = by === "agent";
  return (
    <Card title={isAgents ? "By agent" : "By person"}>
      <Failure error={error.value} retry={reload} />
      {!page && error.value === undefined && <Waiting />}
      {page?.total === 0 && <p class="soft">Nothing in these days.</p>}
      {page && page.total > 0 && (
        <>
          <Table
            label={isAgents ? "Usage by agent" : "Usage by person"}
            rows={page.usage}
            keyOf={({ instanceId, user, userChannel }) => instanceId ?? `${userChannel} ${user}`}
            {...(isAgents ? { pathOf: ({ instanceId = "" }: UsageRow) => ["agents", instanceId] } : {})}
            columns={[
              {
                title: isAgents ? "Agent" : "Person",
                cell: ({ instanceName, user, userChannel = null }) =>
                  instanceName ??
                  (user == null ? <span class="soft">Nobody known</span> : endUserText(user, userChannel)),
              },
              ...numbers,
            ]}
          />
          <div class="part-head">
            <UsageDownload by={by} asked={asked} />
            <Pager
              {...page}
              newer="More used"
              older="Less used"
              onOffset={(next) => {
                offset.value = next;
              }}
            />
          </div>
        </>
      )}
    </Card>
  );
}

/** The server's longest page. */
const longestPage = 400;

/** Saves all rows as a file, which is made here. */
export function UsageDownload({ by, asked }: { by: "agent" | "user" | "day"; asked: Asked }) {
  const save = useAction(async () => {
    const rows: UsageRow[] = [];
    let total = 0;
    do {
      const page = await api.getUsage({ by, ...asked, limit: longestPage, offset: rows.length });
      rows.push(...page.usage);
      total = page.usage.length === 0 ? 0 : page.total;
    } while (rows.length < total);
    download(`usage-by-${by}-${asked.from}.csv`, csvOf(rows), "text/csv");
  });
  return (
    <div>
      <Button small busy={save.busy} onClick={() => void save.run()} aria-label={`Download usage by ${by} as CSV`}>
        <Icon of={Download} /> CSV
      </Button>
      <Failure error={save.error} />
    </div>
  );
}
