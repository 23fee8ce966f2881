import type { Services } from "../../context/ctx.ts";
import { inspectBudgets } from "../turns/index.ts";
import { readInTime } from "./read-in-time.ts";

/** How long a sum counts, in milliseconds. */
const freshMs = 60_000;

/** The metrics of budgets, which are the same on every replica. */
export function measureBudgets(services: Services): void {
  const failure = "The budgets could not be compared with the running calls for the metrics";
  const report = readInTime(services, { freshMs, failure }, () => inspectBudgets(services.database));
  services.meters.readings(
    {
      name: "agent_engine_budget_unowned_tokens",
      type: "gauge",
      help: "Tokens that budgets hold for no running call.",
    },
    async () => {
      const found = await report();
      return found ? [{ value: found.tokens }] : [];
    },
  );
  services.meters.readings(
    {
      name: "agent_engine_budget_unowned_cost_micros",
      type: "gauge",
      help: "Millionths of a currency unit that budgets hold for no running call.",
    },
    async () => {
      const found = await report();
      return found ? [{ value: found.cost }] : [];
    },
  );
}
