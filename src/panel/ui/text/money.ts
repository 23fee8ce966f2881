import { countText, language } from "./numbers.ts";

// Amounts are in micros: millionths of the currency's unit. An amount above 0 is never shown as 0.

const micro = 1_000_000;

const compact = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });
const small = new Intl.NumberFormat(language, { maximumSignificantDigits: 2 });
const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const exact = new Intl.NumberFormat(language, { maximumFractionDigits: 6 });

const formats = new Map<string, Intl.NumberFormat>();

/** The usual format of a currency's amounts, or the one with all digits. */
function formatOf(currency: string, allDigits = false): Intl.NumberFormat {
  const key = `${currency} ${allDigits}`;
  const known = formats.get(key);
  if (known) return known;
  const more = allDigits && { maximumFractionDigits: 6 };
  const format = new Intl.NumberFormat(language, { style: "currency", currency, ...more });
  formats.set(key, format);
  return format;
}

/** An amount in the currency's usual digits, such as `$1,234.50`, or `< $0.01` for less. */
export function moneyText(micros: number, currency: string): string {
  const format = formatOf(currency);
  const least = 10 ** -(format.resolvedOptions().maximumFractionDigits ?? 2);
  const amount = micros / micro;
  return amount > 0 && amount < least ? `< ${format.format(least)}` : format.format(amount);
}

/** An amount with all digits, such as `$0.000412`; without a known currency the number alone. */
export const exactMoneyText = (micros: number, currency: string | null): string =>
  (currency === null ? exact : formatOf(currency, true)).format(micros / micro);

/** An amount for a chart, without its currency: `1.2K`, `12.5`, `0.0004`. */
export function shortMoneyText(micros: number): string {
  const amount = micros / micro;
  if (amount >= 1_000) return compact.format(amount);
  return (amount >= 0.01 ? plain : small).format(amount);
}

interface Costs {
  /** Of the turns with a known cost; null: there is none. */
  costMicros: number | null;
  unpricedTurns: number;
}

/** The number of turns of unknown cost. */
export const unknownText = (turns: number) => `unknown for ${countText(turns)} ${turns === 1 ? "turn" : "turns"}`;

/** The cost of turns, and the number of turns for which it is unknown. */
export function costsText({ costMicros, unpricedTurns }: Costs, currency: string): string {
  if (costMicros === null) return unknownText(unpricedTurns);
  const known = moneyText(costMicros, currency);
  return unpricedTurns === 0 ? known : `${known}, ${unknownText(unpricedTurns)}`;
}

/** The cost of a turn: unknown where it ended and a model without a price answered. */
export function turnCostText(
  { costMicros, finishedAt }: { costMicros: number | null; finishedAt: string | null },
  currency: string | null,
): string {
  if (costMicros !== null) return exactMoneyText(costMicros, currency);
  return finishedAt === null ? "–" : "unknown";
}
