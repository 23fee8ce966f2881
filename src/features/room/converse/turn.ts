import type { Services } from "../../../context.ts";
import { subjectKey } from "../../../core/channels/subjects.ts";
import { digest, randomHex, toHex } from "../../../core/ids.ts";
import type { Tool } from "../../../turn/types.ts";
import { repliesElsewhere } from "../../inbox/index.ts";
import { type AlongsideOf, type TurnRequest, type Turns, type Unattended, watchTools } from "../../turns/index.ts";
import { eventPrompt } from "../events/templates.ts";
import type { ConversationEvent } from "./event.ts";
import { isDiscarded } from "./rules.ts";

/** Gives the tools that the turn of an event has beside its agent's. */
export type EventTools = (event: ConversationEvent) => readonly Tool[];

export interface ConverseNeeds {
  services: Services;
  turns: Turns;
  tools: EventTools;
}

interface Attempt {
  event: ConversationEvent;
  /** Of the event's definition. */
  contextPrompt: string;
  /** How often the turn was taken, this time included. */
  tried: number;
  /** The job's. */
  signal: AbortSignal;
}

/** A repeat of the job finds the turn by the event's id, whatever the attempt says. */
async function identityOf({ id }: Pick<ConversationEvent, "id">) {
  return { key: id, digest: toHex(await digest(id)) };
}

/** Takes the turn of an event to its end. Throws the refusals before the turn. */
export async function takeConversation(
  { turns, tools }: ConverseNeeds,
  { event, contextPrompt, tried, signal }: Attempt,
): Promise<Unattended> {
  const { ref, name, agent, payload } = event;
  const watched = watchTools();
  const request: TurnRequest = {
    door: "room",
    ref,
    stored: true,
    // The first words are a stranger's, between marks.
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
    requestId: event.id,
    throttle: null,
    idempotency: await identityOf(event),
    tools: tools(event),
    alongside: alongsideOf(event, watched.acted, tried),
  };
  return turns.takeUnattended(agent.slug, request, { signal, watched });
}

const channelIdOf = (ref: string) => ref.slice(ref.lastIndexOf(":") + 1);

/** The reply goes out with the turn; an attempt that another one follows leaves nothing. */
function alongsideOf({ place }: ConversationEvent, acted: () => boolean, tried: number): AlongsideOf {
  return (outcome, turnId) => {
    const nothing = { inboxIds: [], sends: [], work: [], supersededAfter: null };
    if (isDiscarded(outcome, acted(), tried)) return { ...nothing, discarded: true };
    return place ? repliesElsewhere(place)(outcome, turnId) : nothing;
  };
}
