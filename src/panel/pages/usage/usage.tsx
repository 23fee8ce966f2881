import { useSignal } from "@preact/signals";
import type { Analytics } from "../../../client/index.ts";
import { agentChoices, useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { filtersOf } from "../../data/list/filters.ts";
import { useLoaded } from "../../data/list/load.ts";
import { query } from "../../data/route.ts";
import { hasFeature } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { Figure, Figures } from "../../ui/chart/figures.tsx";
import { DayField } from "../../ui/form/field.tsx";
import { Filters } from "../../ui/list/filters.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { moneyText, shortMoneyText, unknownText } from "../../ui/text/money.ts";
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
    <Page
      title="Usage"
      lead={`Tokens, ${hasFeature("providers") ? "costs, " : ""}turns and times of the days, in UTC.`}
    >
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
            <Days numbers={read} asked={asked} />
          </>
        )}
      </WhenLoaded>
      <BudgetCards instanceId={instanceId} />
      {instanceId === undefined && <UsageTable key={`${from} ${to}`} by="agent" asked={asked} />}
      <UsageTable key={`${from} ${to} ${instanceId}`} by="user" asked={asked} />
      {hasFeature("providers") && <UsageTable key={`${from} ${to} ${instanceId} model`} by="model" asked={asked} />}
      {numbers && <Shares numbers={numbers} />}
    </>
  );
}

/** Tokens, or costs where they are shown, of each day. */
function Days({ numbers: { dailyTrend, currency }, asked }: { numbers: Analytics; asked: UsageRequest }) {
  const view = useSignal<"tokens" | "cost">("tokens");
  const ofCosts = view.value === "cost";
  const title = ofCosts ? "Cost by day" : "Tokens by day";
  return (
    <Card title={title}>
      {hasFeature("providers") && (
        <Segments
          label="Shown"
          value={view.value}
          choices={views}
          onValue={(next) => {
            view.value = next;
          }}
        />
      )}
      <Chart
        label={title}
        dates={dailyTrend.map(({ date }) => date)}
        format={ofCosts ? shortMoneyText : shortText}
        series={[
          ofCosts
            ? { label: `Cost in ${currency}`, look: "bars", values: dailyTrend.map(({ costMicros }) => costMicros) }
            : { label: "Tokens", look: "bars", values: dailyTrend.map(({ tokens }) => tokens) },
        ]}
      />
      <UsageDownload by="day" asked={asked} />
    </Card>
  );
}

const views = [
  { value: "tokens", label: "Tokens" },
  { value: "cost", label: "Cost" },
] as const;

const Totals = ({ numbers: { overview, latency, currency } }: { numbers: Analytics }) => (
  <Figures label="In these days">
    <Figure
      title="Tokens"
      value={shortText(overview.totalTokens)}
      about={`${shortText(overview.promptTokens)} in, ${shortText(overview.completionTokens)} out`}
    />
    {hasFeature("providers") && (
      <Figure
        title="Cost"
        value={overview.costMicros === null ? "unknown" : moneyText(overview.costMicros, currency)}
        about={overview.unpricedTurns === 0 ? "By the prices of then" : unknownText(overview.unpricedTurns)}
      />
    )}
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
