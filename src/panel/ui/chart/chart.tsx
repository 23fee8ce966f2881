import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { theme } from "../../data/theme.ts";
import { type Column, Table } from "../list/table.tsx";
import { language } from "../text/numbers.ts";
import type { Plot, Series } from "./plot.ts";

interface Props {
  /** The name of the values, such as `Turns a day`. */
  label: string;
  /** Days in UTC, such as `2026-11-21`, in order. */
  dates: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
}

const day = new Intl.DateTimeFormat(language, { day: "numeric", month: "short", timeZone: "UTC" });
const dayOf = (date: string) => day.format(new Date(date));

/** Values by day as a picture, with the numbers of the day under the pointer or of the last day; and as a table. */
export function Chart({ label, dates, series, format }: Props) {
  const pointed = useSignal<number | null>(null);
  const shown = pointed.value ?? dates.length - 1;
  const value = (of: Series, index: number) => {
    const found = of.values[index] ?? null;
    return found === null ? "–" : format(found);
  };
  const rows = dates.map((date, index) => ({ date, index })).reverse();
  const columns: Column<(typeof rows)[number]>[] = series.map((one) => ({
    title: one.label,
    end: true,
    cell: ({ index }) => value(one, index),
  }));
  return (
    <figure class="chart" aria-label={label}>
      <div class="chart-legend" aria-hidden="true">
        <span class="soft">{dayOf(dates[shown] ?? "")}</span>
        {series.map((one) => (
          <span key={one.label}>
            <i class={`chart-mark ${one.look}`} /> {one.label} <b>{value(one, shown)}</b>
          </span>
        ))}
      </div>
      <Canvas
        dates={dates}
        series={series}
        format={format}
        onDay={(index) => {
          pointed.value = index;
        }}
      />
      <details class="chart-table">
        <summary>As a table</summary>
        <Table
          label={label}
          rows={rows}
          keyOf={({ date }) => date}
          columns={[{ title: "Day (UTC)", cell: ({ date }) => dayOf(date) }, ...columns]}
        />
      </details>
    </figure>
  );
}

interface CanvasProps extends Pick<Props, "dates" | "series" | "format"> {
  onDay: (index: number | null) => void;
}

/** Takes the same room while the drawing library loads. */
function Canvas({ dates, series, format, onDay }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const drawn = JSON.stringify([dates, series]);
  useEffect(() => {
    const { current: element } = place;
    let gone = false;
    void import("./plot.ts").then(({ drawPlot }) => {
      if (gone || !element) return;
      plot.current = drawPlot({ element, days: dates.map(dayOf), series, format, onDay });
    });
    return () => {
      gone = true;
      plot.current?.destroy();
      plot.current = null;
    };
  }, [drawn]);
  useEffect(() => {
    const redraw = () => plot.current?.redraw();
    const system = matchMedia("(prefers-color-scheme: dark)");
    system.addEventListener("change", redraw);
    const forget = theme.subscribe(redraw);
    return () => {
      system.removeEventListener("change", redraw);
      forget();
    };
  }, []);
  return <div class="chart-plot" ref={place} aria-hidden="true" />;
}
