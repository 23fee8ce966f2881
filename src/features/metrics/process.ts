import type { Services } from "../../context.ts";

/** The metrics of what this process shares among its calls. */
export function measureProcess({ meters, admission, database, options }: Services): void {
  meters.readings(
    { name: "agent_engine_info", help: "1, with the release that runs.", type: "gauge", labels: ["version"] },
    () => [{ labels: { version: options.version }, value: 1 }],
  );
  meters.readings(
    {
      ...{ name: "agent_engine_admission_calls", type: "gauge", labels: ["state"] },
      help: "Calls that the admission lets in (busy), those that wait for a place, and how many places it gives now.",
    },
    () => {
      const { busy, waiting, places } = admission.figures;
      return Object.entries({ busy, waiting, places }).map(([state, value]) => ({ labels: { state }, value }));
    },
  );
  meters.readings(
    {
      ...{ name: "agent_engine_admission_total", type: "counter", labels: ["verdict"] },
      help: "Calls that the admission let in, and those that it refused with 503 in an overload.",
    },
    () => {
      const { admitted, refused } = admission.figures;
      return Object.entries({ admitted, refused }).map(([verdict, value]) => ({ labels: { verdict }, value }));
    },
  );
  meters.readings(
    {
      ...{ name: "agent_engine_database_connections", type: "gauge", labels: ["state"] },
      help: "Connections to the database that are open, those that are busy, and the statements that wait for one.",
    },
    () => Object.entries(database.use()).map(([state, value]) => ({ labels: { state }, value })),
  );
}
