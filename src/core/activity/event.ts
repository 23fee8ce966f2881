import { iconAddress } from "../files/image.ts";
import { newId } from "../ids.ts";
import type { ActingAgent, Activity, ActivityKind, OwningAgent } from "./activity.ts";

/** The categories for clients' filters. */
const categories = {
  inbound: "message",
  outbound: "message",
  thinking: "message",
  reply: "message",
  "tool-start": "tool",
  "tool-end": "tool",
  memory: "memory",
  cron: "work",
  webhook: "work",
  "agent-handoff": "agent",
  conversation: "conversation",
  governance: "governance",
} as const satisfies Record<ActivityKind, string>;

export const activityCategories = [...new Set(Object.values(categories))];

/** An event of the bus. Its text is made when first needed, once for all readers. */
export class ActivityEvent {
  /** The event's number within the process that reported it; null for an event of another process. */
  readonly number: number | null;
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly agent: OwningAgent;
  readonly conversationId: string | null;
  /** The event's number among all events that this process knows. */
  sequence = 0;
  /** Whether the conversation was deleted, so that only the number of the event is left. */
  isForgotten = false;
  #source: Activity | string;
  #text: string | null = null;

  /** `source`: the JSON of `data`, if the event is another process's. */
  constructor(
    source: Activity | string,
    at: number,
    owner: OwningAgent,
    conversationId: string | null,
    number?: number,
  ) {
    this.#source = source;
    this.at = at;
    this.agent = owner;
    this.conversationId = conversationId;
    this.number = number ?? null;
  }

  /** The event of a deleted conversation, without content. */
  forgotten(): ActivityEvent {
    const blank = new ActivityEvent(this.#source, this.at, this.agent, this.conversationId, this.number ?? undefined);
    blank.sequence = this.sequence;
    blank.forget();
    return blank;
  }

  forget(): void {
    this.isForgotten = true;
    this.#source = "";
    this.#text = null;
  }

  /** The event as JSON, as clients get it. */
  get data(): string {
    if (typeof this.#source !== "string") this.#source = JSON.stringify(toWire(this.#source, this.at));
    return this.#source;
  }

  /** The server-sent event. */
  get text(): string {
    this.#text ??= `id: ${this.sequence}\ndata: ${this.data}\n\n`;
    return this.#text;
  }
}

const iconOf = ({ slug, iconVersion }: ActingAgent) => (iconVersion === null ? null : iconAddress(slug, iconVersion));

/** The wire form (decisions §10, "Wire"). */
function toWire({ id, kind, text, agent, conversationId, ...more }: Activity, at: number): Record<string, unknown> {
  return {
    id: id ?? newId(),
    ts: new Date(at).toISOString(),
    kind,
    category: categories[kind],
    text,
    instance: { id: agent.id, slug: agent.slug, name: agent.name, icon: iconOf(agent) },
    conversationId,
    ...more,
  };
}
