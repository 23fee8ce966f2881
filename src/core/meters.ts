/** A metric's name and meaning. The name ends with its unit, and with `_total` for a counter. */
export interface Measure<Label extends string = string> {
  name: `agent_engine_${string}`;
  help: string;
  /** Labels, each with only a few values of the engine's own: never a text of callers, an agent or a model. */
  labels?: readonly Label[];
}

type Labels<Label extends string = string> = Readonly<Record<Label, string>>;

export interface Reading<Label extends string = string> {
  labels?: Labels<Label>;
  value: number;
}

/** Counters and measurements for the operator's monitoring. Recording never waits or throws. */
export interface Meters {
  /** Returns a function that counts. */
  counter<Label extends string>(measure: Measure<Label>): (labels: Labels<Label>, by?: number) => void;
  /** Returns a function that records a value. */
  histogram<Label extends string>(
    measure: Measure<Label> & { buckets: readonly number[] },
  ): (labels: Labels<Label>, value: number) => void;
  /** Numbers that are read when the metrics are requested. A reading whose `read` rejects is left out. */
  readings<Label extends string>(
    measure: Measure<Label> & { type: "gauge" | "counter" },
    read: () => readonly Reading<Label>[] | Promise<readonly Reading<Label>[]>,
  ): void;
  /** All metrics, in Prometheus's text format. */
  text(): Promise<string>;
}

/** The meters of a process without monitoring. */
export const unmeasured: Meters = {
  counter: () => () => {},
  histogram: () => () => {},
  readings: () => {},
  text: async () => "",
};
