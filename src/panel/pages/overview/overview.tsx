import type { Analytics } from "../../../client/index.ts";
import { useAgents } from "../../data/agents.ts";
import { api, isRefused } from "../../data/api.ts";
import { dateOf, dayAfter } from "../../data/days.ts";
import { reloadAll, useLoaded, useRefresh } from "../../data/list/load.ts";
import { goTo, hrefOf, query } from "../../data/route.ts";
import { may } from "../../data/session.ts";
import { Figure, Figures } from "../../ui/chart/figures.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { durationText, shortText } from "../../ui/text/numbers.ts";
import { Waiting } from "../../ui/waiting.tsx";
import { FirstSteps } from "./first-steps.tsx";
import { Failures, RunningNow, WaitingCalls } from "./happening.tsx";
import { type Comparison, compareToday } from "./today.ts";
import { Trends } from "./trends.tsx";

const lengths = [7, 30, 90];
/** The interval of reading the current state again, in milliseconds. */
const refreshMs = 15_000;

/** Running turns, waiting calls, failures, and the trends of the last days. */
export function OverviewPage() {
  const asked = Number(query.value.get("days"));
  const length = lengths.includes(asked) ? asked : 30;
  const numbers = useLoaded(() => api.getAnalytics({ from: dayAfter(dateOf(Date.now()), 1 - length) }), [length]);
  const agents = useAgents();
  const analytics = numbers.value.value;
  const isQuiet = analytics !== undefined && analytics.overview.turns === 0;
  const known = agents.value.value;
  return (
    <Page title="Overview">
      <SchedulerState />
      <Failure error={numbers.error.value ?? agents.error.value} retry={() => reloadAll(numbers, agents)} />
      {!analytics && numbers.error.value === undefined && <Waiting />}
      {isQuiet && known && <FirstSteps agents={known} />}
      {analytics && !isQuiet && <TodayFigures days={analytics.dailyTrend} />}
      {analytics && <Happening hidesNothing={isQuiet} />}
      {analytics && !isQuiet && (
        <>
          <div class="part-head">
            <h2>Day by day</h2>
            <Segments
              label="Days"
              value={String(length)}
              choices={lengths.map((days) => ({ value: String(days), label: `${days} days` }))}
              onValue={(days) => goTo(["overview"], days === "30" ? {} : { days })}
            />
          </div>
          <Trends days={analytics.dailyTrend} />
        </>
      )}
    </Page>
  );
}

function TodayFigures({ days }: { days: Analytics["dailyTrend"] }) {
  const { turns, conversations, tokens, latency } = compareToday(days);
  return (
    <Figures label="Today, in UTC">
      <Figure title="Turns today" value={shortText(turns.today ?? 0)} about={usualText(turns, shortText)} />
      <Figure
        title="Conversations today"
        value={shortText(conversations.today ?? 0)}
        about={usualText(conversations, shortText)}
      />
      <Figure title="Tokens today" value={shortText(tokens.today ?? 0)} about={usualText(tokens, shortText)} />
      <Figure title="Reply time today" value={durationText(latency.today)} about={usualText(latency, durationText)} />
    </Figures>
  );
}

const usualText = ({ usual }: Comparison, format: (value: number) => string) =>
  usual === null ? "Nothing in the days before" : `${format(usual)} on a usual day`;

/**
 * Running turns, waiting calls and failures, read again while the page is visible. With `hidesNothing`, the lists are
 * not shown while all are empty.
 */
function Happening({ hidesNothing }: { hidesNothing: boolean }) {
  const now = useLoaded((signal) => api.getAnalyticsNow({}, { signal }), []);
  const approvals = useLoaded(
    async (signal) =>
      may("conversation:read") ? api.listApprovals({ limit: 10 }, { signal }) : { approvals: [], total: 0 },
    [],
  );
  useRefresh(now.reload, refreshMs);
  useRefresh(approvals.reload, refreshMs);
  const happening = now.value.value;
  const waiting = approvals.value.value;
  const failed = <Failure error={now.error.value ?? approvals.error.value} retry={() => reloadAll(now, approvals)} />;
  if (!happening || !waiting) return failed;
  const { running, failures } = happening;
  if (hidesNothing && running.total + waiting.total + failures.total === 0) return failed;
  return (
    <>
      {failed}
      <div class="trends">
        <RunningNow running={running} />
        <WaitingCalls {...waiting} />
        <Failures failures={failures} />
      </div>
    </>
  );
}

/** Warns when no process looks for due work. */
function SchedulerState() {
  const { error } = useLoaded((signal) => api.getSchedulerHealth({}, { signal }), []);
  if (!isRefused(error.value, 503)) return null;
  return (
    <Note look="warn">
      <p>
        The scheduler stands still: tasks and Rooms do not run.{" "}
        {may("policy:manage") && <a href={hrefOf(["health"])}>See what is wrong</a>}
      </p>
    </Note>
  );
}
