import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { agentCollectors } from "./agent-collectors.ts";
import { type TracingCheck, tracingCheck } from "./check.ts";
import { tracingObserver } from "./observer.ts";

/** Traces of turns. `warningsOf` says why an agent's traces are not sent, or go to another project than configured. */
export function tracingFeature(services: Services): Contribution & Pick<TracingCheck, "warningsOf"> {
  const { look, warningsOf } = tracingCheck(services);
  const collectorOf = agentCollectors(services, look);
  const { collector: operator = null } = services.options;
  return { observers: [tracingObserver(services, { collectorOf, operator })], warningsOf };
}
