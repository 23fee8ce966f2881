import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { Turns } from "../turns/index.ts";
import { turnActivity } from "./observer.ts";
import { Bridge } from "./replicas/bridge.ts";
import { activityRoutes } from "./routes.ts";
import { ActivityStreams } from "./streams.ts";

/** `/api/activity-stream`, the activity of turns, and the bridge to other processes. */
export function activityFeature(services: Services, turns: Turns): Contribution {
  const streams = new ActivityStreams(services, turns.streams);
  const bridge = services.options.soleProcess ? null : new Bridge(services);
  return {
    routes: [activityRoutes(streams)],
    observers: [turnActivity(services.activity)],
    async stop() {
      streams.stop();
      bridge?.stop();
    },
  };
}
