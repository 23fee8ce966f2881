import type { Contestant } from "./contestants.ts";
import { table } from "./figures.ts";

/** A row of the table that compares the contestants. */
export interface Line {
  name: string;
  cells: Cell[];
}

interface Cell {
  text: string;
  /** The compared value; null: not measurable. */
  value: number | null;
}

/** Collects the values of each contestant in each round. */
export class Lines {
  readonly #contestants: Contestant[];
  readonly #digits: number;
  readonly #found = new Map<string, Map<string, number[]>>();

  constructor(contestants: Contestant[], digits = 2) {
    this.#contestants = contestants;
    this.#digits = digits;
  }

  add(line: string, { name }: Contestant, value: number | null): void {
    const found = this.#found.get(line) ?? new Map<string, number[]>();
    this.#found.set(line, found);
    found.set(name, [...(found.get(name) ?? []), ...(value === null ? [] : [value])]);
  }

  /** Without rows that have no values. */
  all(): Line[] {
    const lines = [...this.#found].map(([name, found]) => ({
      name,
      cells: this.#contestants.map((contestant) => this.#cell(found.get(contestant.name) ?? [])),
    }));
    return lines.filter(({ cells }) => cells.some(({ value }) => value !== null));
  }

  /** Least–most; the least is the value least disturbed by the machine's other work. */
  #cell(values: number[]): Cell {
    if (values.length === 0) return { text: "–", value: null };
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const [from, to] = [least, most].map((value) => value.toFixed(this.#digits));
    return { text: from === to ? `${from}` : `${from}–${to}`, value: least };
  }
}

/** Contestants alternate, so that the machine's other load affects all. */
export async function eachRound(
  contestants: Contestant[],
  rounds: number,
  work: (contestant: Contestant) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) await work(contestant);
  }
}

/** With the engine's ratio to each of the floors, and to another build of it. */
export function sideBySide(database: string, names: string[], lines: Line[]): string {
  const others = ["relay", "streamText", "other engine"].filter((name) => names.includes(name));
  const ratio = (cells: Cell[], other: string) => {
    const [own, its] = [cells[names.indexOf("engine")]?.value, cells[names.indexOf(other)]?.value];
    return own && its ? `${(own / its).toFixed(2)}×` : "–";
  };
  return table(
    [database, ...names, ...others.map((other) => `engine to ${other}`)],
    lines.map(({ name, cells }) => [
      name,
      ...cells.map(({ text }) => text),
      ...others.map((other) => ratio(cells, other)),
    ]),
  );
}
