import type { Analytics } from "../../../client/index.ts";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { filtersOf } from "../../data/list/filters.ts";
import { useLoaded } from "../../data/list/load.ts";
import { query } from "../../data/route.ts";
import { Card } from "../../ui/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { Figure, Figures } from "../../ui/chart/figures.tsx";
import { DayField } from "../../ui/form/field.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { countText, durationText, shortText } from "../../ui/text/numbers.ts";
import { BudgetCards } from "./budgets.tsx";
import { askedPeriod, type Period, periodOf, periodProblem } from "./period.ts";
import { Shares } from "./shares.tsx";
import { UsageDownload, type UsageRequest, UsageTable } from "./usage-table.tsx";

/** The usage of agents and people in a period, and budgets. The address contains the days and the agent. */
export function UsagePage() {
  const period = periodOf(query.value, Date.now());
  const filters = filtersOf("usage", ["period", "from", "to", "agent"]);
  const { agent } = filters.values;
  const agents = useAgents();
  const problem = periodProblem(period);
  const asked = { ...askedPeriod(period), ...(agent === "" ? {} : { instanceId: agent }) };
  return (
    <Page title="Usage" lead="Tokens, turns and times of the days, in UTC.">
      <Filters
        of={filters}
        look="filters"
        fields={[{ name: "agent", label: "Agent", kind: "choice", all: "All agents", choices: agentChoices(agents) }]}
      >
        <PeriodChoice period={period} problem={problem} onChange={filters.set} />
      </Filters>
      <Failure error={agents.error.value} retry={agents.reload} />
      {problem === undefined && <Numbers asked={asked} />}
    </Page>
  );
}

function Numbers({ asked }: { asked: UsageRequest }) {
  const { from, to, instanceId } = asked;
  const loaded = useLoaded(
    (signal) =>
      instanceId === undefined
        ? api.getAnalytics({ from, to }, { signal })
        : api.getInstanceAnalytics({ slug: instanceId, from, to }, { signal }),
    [from, to, instanceId],
  );
  const numbers = loaded.value.value;
  return (
    <>
      <WhenLoaded of={loaded}>
        {(read) => (
          <>
            <Totals numbers={read} />
            <Card title="Tokens by day">
              <Chart
                label="Tokens by day"
                dates={read.dailyTrend.map(({ date }) => date)}
                format={shortText}
                series={[{ label: "Tokens", look: "bars", values: read.dailyTrend.map(({ tokens }) => tokens) }]}
              />
              <UsageDownload by="day" asked={asked} />
            </Card>
          </>
        )}
      </WhenLoaded>
      <BudgetCards instanceId={instanceId} />
      {instanceId === undefined && <UsageTable key={`${from} ${to}`} by="agent" asked={asked} />}
      <UsageTable key={`${from} ${to} ${instanceId}`} by="user" asked={asked} />
      {numbers && <Shares numbers={numbers} />}
    </>
  );
}

const Totals = ({ numbers: { overview, latency } }: { numbers: Analytics }) => (
  <Figures label="In these days">
    <Figure
      title="Tokens"
      value={shortText(overview.totalTokens)}
      about={`${shortText(overview.promptTokens)} in, ${shortText(overview.completionTokens)} out`}
    />
    <Figure
      title="Turns"
      value={shortText(overview.turns)}
      about={`Conversations: ${countText(overview.conversations)}`}
    />
    <Figure title="People" value={shortText(overview.uniqueUsers)} about="Who are known" />
    <Figure title="Reply time" value={durationText(latency.p50)} about={`95% within ${durationText(latency.p95)}`} />
    <Figure title="First output" value={durationText(latency.firstOutputP50)} about="Of half the replies" />
  </Figures>
);

interface Props {
  period: Period;
  problem: string | undefined;
  /** Changes fields of the address; an empty text removes its field. */
  onChange: (changes: { period: string; from: string; to: string }) => void;
}

const choices: readonly { value: Period["choice"]; label: string }[] = [
  { value: "month", label: "This month" },
  { value: "last-month", label: "Last month" },
  { value: "custom", label: "Other days" },
];

/** The choice of the shown days. */
function PeriodChoice({ period: { choice, from, to }, problem, onChange }: Props) {
  const days = (changes: { from?: string; to?: string }) => onChange({ period: "", from, to, ...changes });
  const choose = (wanted: Period["choice"]) => {
    if (wanted === "custom") days({});
    else onChange({ period: wanted === "month" ? "" : wanted, from: "", to: "" });
  };
  return (
    <div class="form">
      <Segments label="Days" value={choice} choices={choices} onValue={choose} />
      {choice === "custom" && (
        <div class="columns">
          <DayField label="First day" value={from} onValue={(next) => next !== "" && days({ from: next })} />
          <DayField
            label="Last day"
            value={to}
            problem={problem}
            onValue={(next) => next !== "" && days({ to: next })}
          />
        </div>
      )}
    </div>
  );
}
