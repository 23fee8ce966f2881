import type { Analytics } from "../../../client/index.ts";
import { Bar } from "../../ui/bar.tsx";
import { Card } from "../../ui/card.tsx";
import { Table } from "../../ui/list/table.tsx";
import { countText, durationText, shareText, shortText } from "../../ui/text/numbers.ts";

interface Share {
  name: string;
  turns: number;
  tokens: number;
}

/** The most items of a list that are shown. */
const shown = 12;

/** The channels, models and tools that were used. */
export function Shares({ numbers }: { numbers: Analytics }) {
  const { channelDistribution, modelDistribution, toolUsage } = numbers;
  return (
    <>
      <div class="columns">
        <ShareCard
          title="Channels"
          of={channelDistribution.map(({ channel, ...rest }) => ({ name: channel, ...rest }))}
        />
        <ShareCard title="Models" of={modelDistribution.map(({ model, ...rest }) => ({ name: model, ...rest }))} />
      </div>
      {toolUsage.length > 0 && (
        <Card title="Tools">
          <Table
            label="Tools"
            rows={toolUsage.slice(0, 2 * shown)}
            keyOf={({ tool }) => tool}
            columns={[
              { title: "Tool", cell: ({ tool }) => <code>{tool}</code> },
              { title: "Calls", end: true, cell: ({ count }) => countText(count) },
              { title: "Failed", end: true, cell: ({ count, errors }) => failedText(errors, count) },
              { title: "95% within", end: true, cell: ({ p95 }) => durationText(p95) },
            ]}
          />
        </Card>
      )}
    </>
  );
}

function failedText(errors: number, count: number) {
  if (errors === 0) return "0";
  return `${countText(errors)} (${shareText(errors / Math.max(1, count))})`;
}

function ShareCard({ title, of }: { title: string; of: readonly Share[] }) {
  const all = of.reduce((sum, { turns }) => sum + turns, 0);
  const most = Math.max(1, ...of.map(({ turns }) => turns));
  return (
    <Card title={title}>
      {of.length === 0 && <p class="soft">Nothing in these days.</p>}
      <ul class="budgets">
        {of.slice(0, shown).map(({ name, turns, tokens }) => (
          <li key={name}>
            <span>{name}</span>
            <span class="numbers">
              {shareText(turns / Math.max(1, all))} · {countText(turns)} {turns === 1 ? "turn" : "turns"} ·{" "}
              {shortText(tokens)} tokens
            </span>
            <Bar label={`Turns with ${name}`} share={turns / most} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
