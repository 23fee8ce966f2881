import type { Analytics } from "../../../client/index.ts";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { filtersOf } from "../../data/filters.ts";
import { useLoaded } from "../../data/load.ts";
import { query } from "../../data/route.ts";
import { Card } from "../../ui/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { Figure, Figures } from "../../ui/chart/figures.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Failure } from "../../ui/note.tsx";
import { countText, durationText, shortText } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { BudgetCards } from "./budgets.tsx";
import { askedPeriod, periodOf, periodProblem } from "./period.ts";
import { PeriodChoice } from "./period-choice.tsx";
import { Shares } from "./shares.tsx";
import { type Asked, UsageDownload, UsageTable } from "./usage-table.tsx";

/** What agents used in a period, by whom, and what is left of budgets. The address says which days, and which agent. */
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

function Numbers({ asked }: { asked: Asked }) {
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
