import type { Analytics } from "../../../client/index.ts";
import { Card } from "../../ui/card.tsx";
import { Chart } from "../../ui/chart/chart.tsx";
import { durationText, shortText } from "../../ui/text/numbers.ts";

/** Charts of the last days. */
export function Trends({ days }: { days: Analytics["dailyTrend"] }) {
  const dates = days.map(({ date }) => date);
  return (
    <div class="trends">
      <Card title="Turns">
        <Chart
          label="Turns a day"
          dates={dates}
          format={shortText}
          series={[{ label: "Turns", look: "bars", values: days.map(({ turns }) => turns) }]}
        />
      </Card>
      <Card title="Tokens">
        <Chart
          label="Tokens a day"
          dates={dates}
          format={shortText}
          series={[{ label: "Tokens", look: "bars", values: days.map(({ tokens }) => tokens) }]}
        />
      </Card>
      <Card title="Reply time">
        <Chart
          label="Reply time a day"
          dates={dates}
          format={durationText}
          series={[
            { label: "Median", look: "line", values: days.map(({ latencyP50 }) => latencyP50) },
            { label: "95%", look: "soft-line", values: days.map(({ latencyP95 }) => latencyP95) },
          ]}
        />
      </Card>
    </div>
  );
}
