import uPlot from "uplot";

/** A line or bars over the days; null where a day has no value. */
export interface Series {
  label: string;
  values: readonly (number | null)[];
  look: "bars" | "line" | "soft-line";
}

interface PlotOptions {
  element: HTMLElement;
  /** The labels of the days, by index. */
  days: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  /** Called with the index of the day under the pointer; null for none. */
  onDay: (index: number | null) => void;
}

export interface Plot {
  /** Draws again in the theme's current colours. */
  redraw(): void;
  destroy(): void;
}

const height = 180;
/** How many days may be between two marks, and the steps of a scale of counts. */
const daySteps = [1, 2, 7, 14, 28, 56, 112];
const countSteps = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat();

/** Draws days into an element, and follows its width. */
export function drawPlot({ element, days, series, format, onDay }: PlotOptions): Plot {
  const colour = (name: string) => colourOf(element, name);
  const axis = {
    stroke: () => colour("--ink-soft"),
    font: `12px ${getComputedStyle(element).fontFamily}`,
    ticks: { show: false },
    grid: { show: false },
  };
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      scales: {
        x: { time: false, range: () => [-0.5, days.length - 0.5] },
        y: { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.1)] },
      },
      axes: [
        {
          ...axis,
          incrs: daySteps,
          space: 64,
          size: 28,
          values: (_, marks) => marks.map((mark) => days[mark] ?? ""),
        },
        {
          ...axis,
          incrs: countSteps,
          space: 30,
          size: 46,
          grid: { stroke: () => colour("--line"), width: 1 },
          values: (_, marks) => marks.map((mark) => (mark === 0 ? "0" : format(mark))),
        },
      ],
      series: [{}, ...series.map((one) => seriesOf(one, colour))],
      hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? null)] },
    },
    [days.map((_, index) => index), ...series.map(({ values }) => [...values])],
    element,
  );
  const observer = new ResizeObserver(() => {
    if (element.clientWidth !== plot.width) plot.setSize({ width: element.clientWidth, height });
  });
  observer.observe(element);
  return {
    redraw: () => plot.redraw(),
    destroy() {
      observer.disconnect();
      plot.destroy();
    },
  };
}

function seriesOf({ label, look, values }: Series, colour: (name: string) => string): uPlot.Series {
  const stroke = () => colour(look === "soft-line" ? "--line-strong" : "--accent");
  if (look !== "bars") {
    // A line of a single day would have no length.
    const isAlone = values.filter((value) => value !== null).length === 1;
    const points = { size: 5, fill: stroke, ...(isAlone ? { show: true } : {}) };
    return { label, stroke, width: 2, spanGaps: true, points };
  }
  const paths = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  return { label, stroke, fill: stroke, width: 0, points: { show: false }, ...(paths && { paths }) };
}

/** Resolves a colour token for the canvas, which supports neither variables nor `light-dark`. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = "";
  return color;
}
