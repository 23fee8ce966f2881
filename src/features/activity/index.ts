import type { Services } from "../../context.ts";
import type { Contribution } from "../../contribution.ts";
import type { Turns } from "../turns/index.ts";
import { turnActivity } from "./observer.ts";
import { activityRoutes } from "./routes.ts";
import { ActivityStreams } from "./streams.ts";

/** `/api/activity-stream`, and what turns have in it. */
export function activityFeature(services: Services, turns: Turns): Contribution {
  const streams = new ActivityStreams(services, turns.streams);
  return {
    routes: [activityRoutes(streams)],
    observers: [turnActivity(services.activity)],
    stop: async () => streams.stop(),
  };
}
