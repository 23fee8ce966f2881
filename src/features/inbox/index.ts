import type { Services } from "../../context/ctx.ts";
import type { Contribution } from "../../contribution.ts";
import type { Heartbeat } from "../../jobs/heartbeat.ts";
import type { Turns } from "../turns/index.ts";
import { createActivity } from "./activity.ts";
import { answerJobs } from "./answer/answer.ts";
import { createAttach } from "./answer/attachments.ts";
import { createNewer } from "./answer/newer.ts";
import { giveUpDead } from "./answer/upkeep.ts";
import { createFollowing } from "./follow/follow.ts";
import { webhookRoutes } from "./intake/routes.ts";
import { createStore } from "./intake/store.ts";
import { createTellArrived } from "./intake/tell.ts";
import { deleteMessagesOf } from "./messages/delete-all.ts";
import { eraseMessages } from "./messages/erase.ts";
import { messageRoutes } from "./messages/routes.ts";
import { createOutbox } from "./outbox/feature.ts";
import { oldMessages } from "./outbox/upkeep.ts";

/** All forms of a destination: a chat's id may have changed. */
export { idsOfPlace } from "./intake/moved.ts";
/** The ids of an erased person's private chats. */
export { chatsOf } from "./messages/erase.ts";
/** Counts given-up messages. */
export { inspectMessages, type MessagesReport } from "./messages/inspect.ts";
/** The destination for results of an agent's own work. */
export { changedPlace, checkOutbound, outboundFields, outboundPlace, withStoredPlace } from "./outbox/place-schema.ts";
/**
 * The rows written with a turn whose reply is sent later: a continued messenger turn, or a reply to another
 * destination.
 */
export { continuedElsewhere, continuedReplies, repliesElsewhere } from "./outbox/replies.ts";
/** Sends a text to people, or to another agent, with a transaction. */
export { type Message, sendTo } from "./outbox/send-to.ts";
/** Why a reply was not delivered. */
export { undeliveredOf, undeliveredOfTurns } from "./outbox/undelivered.ts";
/** Why a person no longer gets results that were requested earlier. */
export { closedTo } from "./outbox/ways.ts";

interface Options {
  services: Services;
  turns: Turns;
  /** Tells the worker that a job is due, now or at a time in milliseconds since the epoch. */
  wake(at?: number): void;
  heartbeat: Heartbeat;
}

/** The entry point of messages from messengers. */
export function inboxFeature({ services, turns, wake, heartbeat }: Options): Contribution {
  const activity = createActivity(services);
  const store = createStore({ services, activity, tell: createTellArrived(services, turns), wake });
  const outbox = createOutbox({ services, turns, activity, wake });
  const answers = { services, turns, wake, attach: createAttach(services), newer: createNewer(services) };
  const following = createFollowing(services, store, heartbeat);
  return {
    routes: [webhookRoutes(store), messageRoutes(wake)],
    jobs: { ...answerJobs(answers), ...outbox.jobs },
    ticks: {
      often: activity.flush,
      seldom: [() => giveUpDead(services), ...outbox.upkeep],
    },
    oldRows: oldMessages,
    beforeAgentDelete: deleteMessagesOf,
    erase: eraseMessages,
    boot: following.begin,
    async stop() {
      await following.stop();
      await activity.flush();
    },
  };
}
