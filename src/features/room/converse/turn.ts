import type { Services } from "../../../context/ctx.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { digest, randomHex, toHex } from "../../../core/ids.ts";
import type { Tool } from "../../../turn/types.ts";
import { repliesElsewhere } from "../../inbox/index.ts";
import { type Attempt, giveUp, nothing, type Turns } from "../../turns/index.ts";
import { eventPrompt } from "../events/templates.ts";
import { mostTries } from "../ledger/store.ts";
import type { ConversationEvent } from "./event.ts";

/** Returns the tools of an event's turn that its agent does not have otherwise. */
type EventTools = (event: ConversationEvent) => readonly Tool[];

export interface ConverseDependencies {
  services: Services;
  turns: Turns;
  tools: EventTools;
}

interface ToConverse {
  event: ConversationEvent;
  /** The number of attempts, including this one. */
  tried: number;
  /** The job's signal. */
  signal: AbortSignal;
}

/** The idempotency key, made from the event's id: a repeated job finds the turn of any earlier attempt. */
async function identityOf({ id }: Pick<ConversationEvent, "id">) {
  return { key: id, digest: toHex(await digest(id)) };
}

/** The attempt at an event's turn. */
export function eventAttempt(
  { tools }: Pick<ConverseDependencies, "tools">,
  { event, tried, signal }: ToConverse,
): Attempt {
  const { id, ref, name, agent, payload, contextPrompt, place } = event;
  return {
    slug: agent.slug,
    tries: { tried, most: mostTries },
    signal,
    about: { agent: agent.slug, eventId: id },
    async request() {
      if (contextPrompt === null) return giveUp("off", "The definition was deleted before the turn began");
      if (tried > mostTries)
        return giveUp("too-often", "The turn did not end: the server stopped each time while it ran");
      return {
        door: "room",
        ref,
        stored: true,
        // Not from the first message: it contains a stranger's text between marks.
        title: name,
        origin: {
          channel: "room",
          channelId: channelIdOf(ref),
          source: "webhook",
          depth: 0,
          subject: subjectKey("conversation", ref),
        },
        input: { history: [], fresh: [eventPrompt(contextPrompt, payload, randomHex(24))] },
        rule: "always-finish",
        requestId: id,
        throttle: null,
        idempotency: await identityOf(event),
        tools: tools(event),
      };
    },
    /** RECORD stores the reply for sending, unless the attempt will be repeated. */
    alongside(outcome, turnId, end) {
      if (end.kind === "retry" || end.kind === "defer") return null;
      return place ? repliesElsewhere(place)(outcome, turnId) : nothing;
    },
  };
}

const channelIdOf = (ref: string) => ref.slice(ref.lastIndexOf(":") + 1);
