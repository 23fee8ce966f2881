import { expect, test } from "vitest";
import { costsText, exactMoneyText, moneyText, shortMoneyText, turnCostText } from "../../src/panel/ui/text/money.ts";

test.each([
  [0, "USD", "$0.00"],
  [1, "USD", "< $0.01"],
  [9_999, "USD", "< $0.01"],
  [10_000, "USD", "$0.01"],
  [1_234_500_000, "USD", "$1,234.50"],
  [999_999, "JPY", "< ¥1"],
  [500, "KWD", "< KWD\u00a00.001"],
  [12_000_000, "CHF", "CHF\u00a012.00"],
])("%d micros in %s are %s", (micros, currency, text) => {
  expect(moneyText(micros, currency)).toBe(text);
});

test.each([
  [412, "USD", "$0.000412"],
  [250_000, "EUR", "€0.25"],
  [0, "USD", "$0.00"],
  [412, null, "0.000412"],
])("%d micros in %s are exactly %s", (micros, currency, text) => {
  expect(exactMoneyText(micros, currency)).toBe(text);
});

test.each([
  [1, "0.000001"],
  [412, "0.00041"],
  [500_000, "0.5"],
  [12_340_000, "12.34"],
  [1_250_000_000, "1.3K"],
])("a chart shows %d micros as %s", (micros, text) => {
  expect(shortMoneyText(micros)).toBe(text);
});

test.each([
  [{ costMicros: 31_200, unpricedTurns: 0 }, "$0.03"],
  [{ costMicros: 31_200, unpricedTurns: 1 }, "$0.03, unknown for 1 turn"],
  [{ costMicros: null, unpricedTurns: 1_200 }, "unknown for 1,200 turns"],
  [{ costMicros: 0, unpricedTurns: 0 }, "$0.00"],
])("costs %j are shown as %s", (costs, text) => {
  expect(costsText(costs, "USD")).toBe(text);
});

test.each([
  [{ costMicros: 412, finishedAt: "2026-01-01T00:00:00Z" }, "$0.000412"],
  [{ costMicros: 0, finishedAt: "2026-01-01T00:00:00Z" }, "$0.00"],
  [{ costMicros: null, finishedAt: "2026-01-01T00:00:00Z" }, "unknown"],
  [{ costMicros: null, finishedAt: null }, "–"],
])("the cost of a turn %j is shown as %s", (turn, text) => {
  expect(turnCostText(turn, "USD")).toBe(text);
});
