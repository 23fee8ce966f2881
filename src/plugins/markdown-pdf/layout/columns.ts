/** The widths that a column needs, with its padding: for its longest word, and for its longest text on one line. */
export interface ColumnWidths {
  least: number;
  most: number;
}

/** Columns beside each other. A table that is too wide has several bands, one below the other. */
export interface Band {
  /** Indexes from 0, in order. */
  columns: number[];
  widths: number[];
}

/** The smallest readable width, in points. */
const narrow = 52;

/**
 * Divides a table's columns into bands that fit. Each further band repeats the first column, which identifies the rows.
 */
export function bandsOf(wishes: readonly ColumnWidths[], width: number): Band[] {
  const capped = (cap: number) =>
    wishes.map(({ least, most }) => ({ least: Math.min(least, cap), most: Math.max(Math.min(least, cap), most) }));
  const all = wishes.map((_, column) => column);
  for (const cap of [width * 0.5, width / 4, narrow]) {
    const tried = capped(cap);
    if (sum(tried, "least") <= width) return [{ columns: all, widths: shared(tried, width) }];
  }
  return parted(capped(width / 5), width);
}

function parted(wishes: readonly ColumnWidths[], width: number): Band[] {
  const [first, ...rest] = wishes;
  if (!first) return [];
  const groups: number[][] = [];
  let left = 0;
  for (const [index, { least }] of rest.entries()) {
    if (least > left) {
      groups.push([0]);
      left = width - first.least;
    }
    groups.at(-1)?.push(index + 1);
    left -= least;
  }
  return groups.map((columns) => {
    const own = columns.map((column) => wishes[column] ?? first);
    return { columns, widths: shared(own, width) };
  });
}

/** Gives each column the width of its text on one line, up to a common limit at which all fit. */
function shared(wishes: readonly ColumnWidths[], width: number): number[] {
  const limited = (limit: number) => wishes.map(({ least, most }) => Math.min(most, Math.max(least, limit)));
  const total = (widths: readonly number[]) => widths.reduce((all, one) => all + one, 0);
  if (sum(wishes, "most") <= width) return limited(Number.POSITIVE_INFINITY);
  let [low, high] = [0, width];
  for (let i = 0; i < 20; i++) {
    const middle = (low + high) / 2;
    if (total(limited(middle)) <= width) low = middle;
    else high = middle;
  }
  return limited(low);
}

const sum = (wishes: readonly ColumnWidths[], key: keyof ColumnWidths) =>
  wishes.reduce((total, wish) => total + wish[key], 0);
