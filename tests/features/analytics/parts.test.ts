import fc from "fast-check";
import { expect, test } from "vitest";
import { partsOf } from "../../../src/features/analytics/scope.ts";

const at = (text: string) => new Date(`${text}Z`);
const span = (from: string, to: string) => ({ from: at(from), to: at(to) });

type Times = readonly [from: string, to: string];

test.each<[name: string, from: string, to: string, days: Times | null, spans: readonly Times[]]>([
  ["days that are over", "2026-01-02T00:00", "2026-01-04T00:00", ["2026-01-02T00:00", "2026-01-04T00:00"], []],
  [
    "up to now",
    "2026-01-02T00:00",
    "2026-01-11T00:00",
    ["2026-01-02T00:00", "2026-01-11T00:00"],
    [["2026-01-10T15:00", "2026-01-11T00:00"]],
  ],
  [
    "from one noon to another",
    "2026-01-02T12:00",
    "2026-01-05T12:00",
    ["2026-01-03T00:00", "2026-01-05T00:00"],
    [
      ["2026-01-02T12:00", "2026-01-03T00:00"],
      ["2026-01-05T00:00", "2026-01-05T12:00"],
    ],
  ],
  ["within a day", "2026-01-02T01:00", "2026-01-02T05:00", null, [["2026-01-02T01:00", "2026-01-02T05:00"]]],
  ["after the mark", "2026-01-10T16:00", "2026-01-10T17:00", null, [["2026-01-10T16:00", "2026-01-10T17:00"]]],
  ["over the mark", "2026-01-10T12:00", "2026-01-10T17:00", null, [["2026-01-10T12:00", "2026-01-10T17:00"]]],
  ["nothing", "2026-01-02T01:00", "2026-01-02T01:00", null, []],
])("%s", (_name, from, to, days, spans) => {
  expect(partsOf(span(from, to), at("2026-01-10T15:00"))).toEqual({
    days: days && span(...days),
    spans: spans.map(([begins, ends]) => span(begins, ends)),
  });
});

const hour = 3_600_000;
const dayOf = (ms: number) => Math.floor(ms / (24 * hour));
const moments = fc.integer({ min: 0, max: 6 * 24 * 4 }).map((quarters) => quarters * (hour / 4));

test("whatever the period and the mark, each moment of the period is counted once and no other", () => {
  fc.assert(
    fc.property(moments, moments, moments, (one, other, until) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other)];
      const { days, spans } = partsOf({ from: new Date(from), to: new Date(to) }, new Date(until));
      for (let moment = 0; moment < 7 * 24 * hour; moment += hour / 4) {
        const inRow =
          days && moment < until && dayOf(moment) >= dayOf(+days.from) && dayOf(moment) < dayOf(+days.to) ? 1 : 0;
        const inSpans = spans.filter((stretch) => moment >= +stretch.from && moment < +stretch.to).length;
        if (inRow + inSpans !== (moment >= from && moment < to ? 1 : 0)) return false;
      }
      return true;
    }),
    { numRuns: 300 },
  );
});
