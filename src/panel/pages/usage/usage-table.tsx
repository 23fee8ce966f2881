import { Download } from "lucide";
import { api } from "../../data/api.ts";
import { useAction } from "../../data/form/action.ts";
import { useList } from "../../data/list/list.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { download } from "../../ui/download.ts";
import { Icon } from "../../ui/icon.tsx";
import { List } from "../../ui/list/list.tsx";
import type { Column } from "../../ui/list/table.tsx";
import { Failure } from "../../ui/note.tsx";
import { endUserText } from "../../ui/text/end-user.ts";
import { countText } from "../../ui/text/numbers.ts";
import { csvOf, type UsageRow } from "./csv.ts";

export interface UsageRequest {
  from: string;
  to: string;
  instanceId?: string;
}

interface Props {
  by: "agent" | "user";
  asked: UsageRequest;
}

const numbers: readonly Column<UsageRow>[] = [
  { title: "Turns", end: true, cell: ({ turns }) => countText(turns) },
  { title: "Tokens in", end: true, cell: ({ promptTokens }) => countText(promptTokens) },
  { title: "Tokens out", end: true, cell: ({ completionTokens }) => countText(completionTokens) },
  { title: "Tokens", end: true, cell: ({ totalTokens }) => countText(totalTokens) },
];

/** The usage of each agent, user or day, the highest first. */
export function UsageTable({ by, asked }: Props) {
  const rows = useList(
    "usage",
    (part, signal) => api.getUsage({ by, ...asked, ...part }, { signal }),
    [by, asked.from, asked.to, asked.instanceId],
    { limit: 20 },
  );
  const isAgents = by === "agent";
  return (
    <Card title={isAgents ? "By agent" : "By person"}>
      <List
        of={rows}
        empty="Nothing in these days."
        newer="More used"
        older="Less used"
        beside={<UsageDownload by={by} asked={asked} />}
        label={isAgents ? "Usage by agent" : "Usage by person"}
        keyOf={({ instanceId, user, userChannel }) => instanceId ?? `${userChannel} ${user}`}
        {...(isAgents ? { pathOf: ({ instanceId = "" }: UsageRow) => ["agents", instanceId] } : {})}
        columns={[
          {
            title: isAgents ? "Agent" : "Person",
            cell: ({ instanceName, user, userChannel = null }) =>
              instanceName ?? (user == null ? <span class="soft">Nobody known</span> : endUserText(user, userChannel)),
          },
          ...numbers,
        ]}
      />
    </Card>
  );
}

/** The most rows of one page of the API. */
const longestPage = 400;

/** Downloads all rows as a CSV file. */
export function UsageDownload({ by, asked }: { by: "agent" | "user" | "day"; asked: UsageRequest }) {
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
