import type { Services } from "../../context/ctx.ts";

/** The metrics of resources that all requests of this process share. */
export function measureProcess({ meters, admission, activity, tracer, database, notify, options }: Services): void {
  meters.readings(
    { name: "agent_engine_info", help: "1, with the release that runs.", type: "gauge", labels: ["version"] },
    () => [{ labels: { version: options.version }, value: 1 }],
  );
  meters.readings(
    {
      name: "agent_engine_admission_calls",
      type: "gauge",
      labels: ["state"],
      help: "Calls that the admission lets in (busy), those that wait for a place, and how many places it gives now.",
    },
    () => {
      const { busy, waiting, places } = admission.figures;
      return Object.entries({ busy, waiting, places }).map(([state, value]) => ({ labels: { state }, value }));
    },
  );
  meters.readings(
    {
      name: "agent_engine_admission_total",
      type: "counter",
      labels: ["verdict"],
      help: "Calls that the admission let in, and those that it refused with 503 in an overload.",
    },
    () => {
      const { admitted, refused } = admission.figures;
      return Object.entries({ admitted, refused }).map(([verdict, value]) => ({ labels: { verdict }, value }));
    },
  );
  meters.readings(
    {
      name: "agent_engine_activity_total",
      type: "counter",
      labels: ["kind"],
      help: "What happened, as the activity streams show it.",
    },
    () => [...activity.counts].map(([kind, value]) => ({ labels: { kind }, value })),
  );
  meters.readings({ name: "agent_engine_activity_streams", help: "Open activity streams.", type: "gauge" }, () => [
    { value: activity.watchers },
  ]);
  meters.readings(
    {
      name: "agent_engine_trace_spans_total",
      type: "counter",
      labels: ["result"],
      help: "Spans of traces that a collector took, and those that were dropped because none did, or for want of room.",
    },
    () => {
      const { sent, dropped } = tracer.counts();
      return Object.entries({ sent, dropped }).map(([result, value]) => ({ labels: { result }, value }));
    },
  );
  meters.readings(
    {
      name: "agent_engine_database_connections",
      type: "gauge",
      labels: ["state"],
      help: "Connections to the database that are open, those that are busy, and the statements that wait for one.",
    },
    () => {
      const { open, busy, waiting } = database.use();
      return Object.entries({ open, busy, waiting }).map(([state, value]) => ({ labels: { state }, value }));
    },
  );
  meters.readings(
    {
      name: "agent_engine_database_connections_lost_total",
      type: "counter",
      labels: ["cause"],
      help: "Connections to the database that were lost, by cause.",
    },
    () => Object.entries(database.use().lost).map(([cause, value]) => ({ labels: { cause }, value })),
  );
  meters.readings(
    {
      name: "agent_engine_database_writable",
      type: "gauge",
      help: "1 while statements of this process reach a database that takes writes, else 0.",
    },
    () => [{ value: database.isUsable() ? 1 : 0 }],
  );
  meters.readings(
    {
      name: "agent_engine_notify_heard",
      type: "gauge",
      help: "1 while this process hears what the other replicas announce, else 0.",
    },
    () => [{ value: notify.isHearing() ? 1 : 0 }],
  );
}
