import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import type { Turns } from "../turns/index.ts";
import { activityRoutes } from "./routes.ts";
import { ActivityStreams } from "./streams.ts";

/** `/api/activity-stream`. */
export function activityFeature(services: Services, turns: Turns): Contribution {
  const streams = new ActivityStreams(services, turns.streams);
  return {
    routes: [activityRoutes(streams)],
    stop: async () => streams.stop(),
  };
}
