import type { Analytics } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { goTo, query } from "../../data/route.ts";
import { may } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { Figure, Figures } from "../../ui/chart/figures.tsx";
import { Choice } from "../../ui/form/field.tsx";
import { Failure } from "../../ui/note.tsx";
import { countText, durationText, shortText } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { BudgetCards } from "./budgets.tsx";
import { askedPeriod, periodOf, periodProblem } from "./period.ts";
import { PeriodChoice } from "./period-choice.tsx";
import { Shares } from "./shares.tsx";
import { type Asked, UsageDownload, UsageTable } from "./usage-table.tsx";

/** What agents used in a period, by whom, and what is left of budgets. The address says which days, and which agent. */
export function UsagePage() {
  const search = query.value;
  const period = periodOf(search, Date.now());
  const agent = search.get("agent") ?? "";
  const look = (changes: Record<string, string>) => {
    const all = Object.entries({ ...Object.fromEntries(search), ...changes });
    goTo(["usage"], Object.fromEntries(all.filter(([, value]) => value !== "")));
  };
  const agents = useLoaded(async () => (may("agent:read") ? (await api.listAgents()).instances : []), []);
  const problem = periodProblem(period);
  const asked = { ...askedPeriod(period), ...(agent === "" ? {} : { instanceId: agent }) };
  return (
    <Page title="Usage" lead="Tokens, turns and times of the days, in UTC.">
      <search class="columns filters">
        <PeriodChoice period={period} problem={problem} onChange={look} />
        <Choice
          label="Agent"
          value={agent}
          choices={[
            { value: "", label: "All agents" },
            ...(agents.value.value ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
          ]}
          onValue={(slug) => look({ agent: slug })}
        />
      </search>
      <Failure error={agents.error.value} retry={agents.reload} />
      {problem === undefined && <Numbers asked={asked} />}
    </Page>
  );
}

function Numbers({ asked }: { asked: Asked }) {
  const { from, to, instanceId } = asked;
  const { value, error, reload } = useLoaded(
    (signal) =>
      instanceId === undefined
        ? api.getAnalytics({ from, to }, { signal })
        : api.getInstanceAnalytics({ slug: instanceId, from, to }, { signal }),
    [from, to, instanceId],
  );
  const numbers = value.value;
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {!numbers && error.value === undefined && <Waiting />}
      {numbers && (
        <>
          <Totals numbers={numbers} />
          <Card title="Tokens by day">
            <Chart
              label="Tokens by day"
              dates={numbers.dailyTrend.map(({ date }) => date)}
              format={shortText}
              series={[{ label: "Tokens", look: "bars", values: numbers.dailyTrend.map(({ tokens }) => tokens) }]}
            />
            <UsageDownload by="day" asked={asked} />
          </Card>
        </>
      )}
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
