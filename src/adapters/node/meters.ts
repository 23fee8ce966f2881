import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Measure, Meters, Reading } from "../../core/meters.ts";
import type { Log } from "../../core/ports.ts";

/** The meters of the process, including Node's own: processor, memory, garbage collection, event-loop delay. */
export function createMeters(log: Log): Meters {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const described = ({ name, help, labels = [] }: Measure) => ({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
  });
  return {
    counter(measure) {
      const counter = new Counter(described(measure));
      return (labels, by = 1) => counter.inc(labels, by);
    },
    histogram(measure) {
      const histogram = new Histogram({ ...described(measure), buckets: [...measure.buckets] });
      return (labels, value) => histogram.observe(labels, value);
    },
    readings(measure, read) {
      const show = async (metric: { reset(): void; remove(): void }, set: (reading: Reading) => void) => {
        metric.reset();
        // Without labels the library shows a metric as 0 even when its value is unknown.
        if (!measure.labels?.length) metric.remove();
        try {
          for (const reading of await read()) set(reading);
        } catch (err) {
          log.warn({ metric: measure.name, err }, "A metric could not be read");
        }
      };
      if (measure.type === "gauge") {
        const gauge: Gauge = new Gauge({
          ...described(measure),
          collect: () => show(gauge, ({ labels = {}, value }) => gauge.set(labels, value)),
        });
      } else {
        const counter: Counter = new Counter({
          ...described(measure),
          collect: () => show(counter, ({ labels = {}, value }) => counter.inc(labels, value)),
        });
      }
    },
    text: () => registry.metrics(),
  };
}
