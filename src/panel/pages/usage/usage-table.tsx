import { Download } from "lucide";
import { api } from "../../data/api.ts";
import { useAction } from "../../data/form/action.ts";
import { useList } from "../../data/list/list.ts";
import { hasFeature } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { download } from "../../ui/download.ts";
import { Icon } from "../../ui/icon.tsx";
import { List } from "../../ui/list/list.tsx";
import type { Column } from "../../ui/list/table.tsx";
import { Failure } from "../../ui/note.tsx";
import { endUserText } from "../../ui/text/end-user.ts";
import { costsText } from "../../ui/text/money.ts";
import { countText } from "../../ui/text/numbers.ts";
import { csvOf, type UsageRow } from "./csv.ts";

export interface UsageRequest {
  from: string;
  to: string;
  instanceId?: string;
}

/** The rows of the tables, and their texts. */
const tables = {
  agent: { title: "By agent", label: "Usage by agent", column: "Agent" },
  user: { title: "By person", label: "Usage by person", column: "Person" },
  model: { title: "By model", label: "Usage by model", column: "Model" },
} as const;

interface Props {
  by: keyof typeof tables;
  asked: UsageRequest;
}

/** Usage with the currency of its costs. */
type Row = UsageRow & { currency: string };

const numbers: readonly Column<Row>[] = [
  { title: "Turns", end: true, cell: ({ turns }) => countText(turns) },
  { title: "Tokens in", end: true, cell: ({ promptTokens }) => countText(promptTokens) },
  { title: "Tokens out", end: true, cell: ({ completionTokens }) => countText(completionTokens) },
  { title: "Tokens", end: true, cell: ({ totalTokens }) => countText(totalTokens) },
];
const cost: Column<Row> = { title: "Cost", end: true, cell: (row) => costsText(row, row.currency) };

/** The usage of each agent, user or model, the highest first. */
export function UsageTable({ by, asked }: Props) {
  const rows = useList(
    "usage",
    async (part, signal) => {
      const { usage, currency, ...page } = await api.getUsage({ by, ...asked, ...part }, { signal });
      return { ...page, usage: usage.map((row): Row => ({ ...row, currency })) };
    },
    [by, asked.from, asked.to, asked.instanceId],
    { limit: 20 },
  );
  const { title, label, column } = tables[by];
  return (
    <Card title={title}>
      <List
        of={rows}
        empty="Nothing in these days."
        newer="More used"
        older="Less used"
        beside={<UsageDownload by={by} asked={asked} />}
        label={label}
        keyOf={({ instanceId, model, user, userChannel }) => instanceId ?? model ?? `${userChannel} ${user}`}
        {...(by === "agent" ? { pathOf: ({ instanceId = "" }: Row) => ["agents", instanceId] } : {})}
        columns={[{ title: column, cell: nameOf }, ...numbers, ...(hasFeature("providers") ? [cost] : [])]}
      />
    </Card>
  );
}

/** The agent, model or person of a row. */
function nameOf({ instanceName, model, user, userChannel = null }: Row) {
  const name = instanceName ?? model;
  if (name !== undefined) return name;
  return user == null ? <span class="soft">Nobody known</span> : endUserText(user, userChannel);
}

/** The most rows of one page of the API. */
const longestPage = 400;

/** Downloads all rows as a CSV file. */
export function UsageDownload({ by, asked }: { by: Props["by"] | "day"; asked: UsageRequest }) {
  const save = useAction(async () => {
    const rows: UsageRow[] = [];
    let total = 0;
    let currency: string | null = null;
    do {
      const page = await api.getUsage({ by, ...asked, limit: longestPage, offset: rows.length });
      rows.push(...page.usage);
      if (hasFeature("providers")) ({ currency } = page);
      total = page.usage.length === 0 ? 0 : page.total;
    } while (rows.length < total);
    download(`usage-by-${by}-${asked.from}.csv`, csvOf(rows, currency), "text/csv");
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
