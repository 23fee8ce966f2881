import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import { agentCollectors } from "./agent-collectors.ts";
import { type TracingCheck, tracingCheck } from "./check.ts";
import { tracingObserver } from "./observer.ts";

/** Traces of turns. `warningsOf` says why those of an agent go nowhere, or to another project than it says. */
export function tracingFeature(services: Services): Contribution & Pick<TracingCheck, "warningsOf"> {
  const { look, warningsOf } = tracingCheck(services);
  const collectorOf = agentCollectors(services, look);
  const { collector: operator = null } = services.options;
  return { observers: [tracingObserver(services, { collectorOf, operator })], warningsOf };
}
