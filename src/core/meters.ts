/** The name and meaning of a metric. Its name ends with its unit, and with `_total` where it only grows. */
export interface Measure<Label extends string = string> {
  name: `agent_engine_${string}`;
  help: string;
  /** Their values must be few and ours: never a caller's words, an agent or a model. */
  labels?: readonly Label[];
}

type Labels<Label extends string = string> = Readonly<Record<Label, string>>;

export interface Reading<Label extends string = string> {
  labels?: Labels<Label>;
  value: number;
}

/** Counts and measures for the operator's monitoring. Nothing here waits or throws while work goes on. */
export interface Meters {
  /** Gives the function that counts. */
  counter<Label extends string>(measure: Measure<Label>): (labels: Labels<Label>, by?: number) => void;
  /** Gives the function that notes a value. */
  histogram<Label extends string>(
    measure: Measure<Label> & { buckets: readonly number[] },
  ): (labels: Labels<Label>, value: number) => void;
  /** Numbers that others keep: they are read when somebody asks. Those whose `read` rejects are left out. */
  readings<Label extends string>(
    measure: Measure<Label> & { type: "gauge" | "counter" },
    read: () => readonly Reading<Label>[] | Promise<readonly Reading<Label>[]>,
  ): void;
  /** All of them, in the text format of Prometheus. */
  text(): Promise<string>;
}

/** The meters of a process that nobody monitors. */
export const unmeasured: Meters = {
  counter: () => () => {},
  histogram: () => () => {},
  readings: () => {},
  text: async () => "",
};
