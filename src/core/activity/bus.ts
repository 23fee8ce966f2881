import { newId } from "../ids.ts";
import type { Clock, Log } from "../ports.ts";
import {
  type ActingConversation,
  type Activity,
  type ActivityKind,
  type OwningAgent,
  type Persisted,
  tellsBegin,
} from "./activity.ts";
import { ActivityEvent } from "./event.ts";

/** Spec "Limits", "Activity ring buffer". */
export const ringSize = 100;
/** A turn of a deleted conversation has been stopped after this time. */
const stoppedMs = 60_000;

/** Somebody who follows what happens. */
export interface Watcher {
  sees(event: ActivityEvent): boolean;
  /** The conversation of whose stored rows the watcher is told; null for none. */
  conversation: ActingConversation | null;
  /** Whether the watcher also gets all stored rows of an agent. */
  rowsOf?: (agent: OwningAgent) => boolean;
  /** Takes complete server-sent events, in order. */
  take(text: string): void;
}

/** The way to the buses of other processes. */
export interface Outside {
  happened(event: ActivityEvent): void;
  stored(row: Persisted): void;
  deleted(conversation: ActingConversation): void;
  /** The first watcher came. */
  watched(): void;
}

/** An event, a stored row, or a comment. */
type News = ActivityEvent | Persisted | string;

interface Watching {
  watcher: Watcher;
  /** Events up to this sequence number were replayed, or were not asked for. */
  after: number;
}

/**
 * Tells what happened to whoever watches (spec "Activity bus"). Events reach watchers after the code that told them has
 * come to its next pause, so that a turn does not pay for the writing.
 */
export class ActivityBus {
  /** Names the bus to those of other processes. */
  readonly process = newId();
  readonly #clock: Clock;
  readonly #log: Log;
  /** The last events, by time. */
  readonly #ring: ActivityEvent[] = [];
  /** When conversations were deleted that have not begun anew. What their turns still do is told, and not kept. */
  readonly #deleted = new Map<string, number>();
  readonly #watching = new Set<Watching>();
  #waiting: News[] = [];
  /** How often each kind happened in this process. */
  readonly #counts = new Map<ActivityKind, number>();
  #numbers = 0;
  /** It begins with the time, so that a client that comes back to another process is not taken for one of this process. */
  #sequence: number;
  #outside: Outside | null = null;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
    this.#sequence = clock.now();
  }

  /** Tells of something that happened in this process. Returns at once; never throws and never waits. */
  emit(activity: Activity): void {
    this.#numbers += 1;
    this.#sequence += 1;
    const { agent, conversationId, kind } = activity;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    const event = new ActivityEvent(activity, this.#clock.now(), agent, conversationId, this.#numbers);
    event.sequence = this.#sequence;
    this.#keep(event, tellsBegin(activity), this.#ring.length);
    this.#outside?.happened(event);
    this.#tell(event);
  }

  /** Tells the watchers of a conversation that a row of it was stored. Call it after the commit. As safe as `emit`. */
  persisted(row: Persisted): void {
    this.#outside?.stored(row);
    this.#tell(row);
  }

  /** Forgets what happened in a conversation that was deleted. Call it after the commit. As safe as `emit`. */
  forget(conversation: ActingConversation): void {
    this.receiveForgotten(conversation);
    this.#outside?.deleted(conversation);
  }

  /**
   * Replays the last events behind sequence number `after`, or all of them if it is not of this process, then tells what
   * happens: each event once. The returned function ends that.
   */
  watch(watcher: Watcher, after = 0): () => void {
    const watching = { watcher, after: this.#sequence };
    const isFirst = this.#watching.size === 0;
    this.#watching.add(watching);
    const from = after > this.#sequence ? 0 : after;
    const missed = this.#ring.filter((event) => event.sequence > from);
    this.#hand(
      { watcher, after: from },
      missed.sort((one, other) => one.sequence - other.sequence),
    );
    if (isFirst) this.#outside?.watched();
    return () => void this.#watching.delete(watching);
  }

  get watchers(): number {
    return this.#watching.size;
  }

  get counts(): ReadonlyMap<ActivityKind, number> {
    return this.#counts;
  }

  /** How many events this process has emitted. */
  get emitted(): number {
    return this.#numbers;
  }

  /** The number of the last event. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The last events, of all agents. */
  get ring(): readonly ActivityEvent[] {
    return this.#ring;
  }

  /** Sets the way to other processes, which is told of all that is emitted here. */
  join(outside: Outside): void {
    this.#outside = outside;
  }

  /**
   * Takes in an event of another process, which may tell that its conversation `begins`. One that is older than all of a
   * full ring is told only if it is `live`.
   */
  receive(event: ActivityEvent, { live, begins }: { live: boolean; begins: boolean }): void {
    let place = this.#ring.length;
    while (place > 0 && (this.#ring[place - 1]?.at ?? 0) > event.at) place -= 1;
    const isOld = place === 0 && this.#ring.length >= ringSize;
    if (isOld && !live) return;
    this.#sequence += 1;
    event.sequence = this.#sequence;
    if (!isOld) this.#keep(event, begins, place);
    this.#tell(event);
  }

  /** `persisted` for a row that another process stored. */
  receivePersisted(row: Persisted): void {
    this.#tell(row);
  }

  /** `forget` for a conversation that another process deleted. */
  receiveForgotten({ agentId, ref }: ActingConversation): void {
    const now = this.#clock.now();
    for (const [key, at] of this.#deleted) if (at < now - stoppedMs) this.#deleted.delete(key);
    this.#deleted.set(keyOf(agentId, ref), now);
    for (const event of this.#ring) if (event.conversationId === ref && event.agent.id === agentId) event.forget();
  }

  /** Tells all watchers something about the stream itself. */
  remark(comment: string): void {
    this.#tell(`: ${comment}\n\n`);
  }

  #keep(event: ActivityEvent, begins: boolean, place: number): void {
    const key = keyOf(event.agent.id, event.conversationId);
    if (begins) this.#deleted.delete(key);
    const isLate = this.#clock.now() <= (this.#deleted.get(key) ?? Number.NEGATIVE_INFINITY) + stoppedMs;
    this.#ring.splice(place, 0, isLate ? event.forgotten() : event);
    if (this.#ring.length > ringSize) this.#ring.shift();
  }

  #tell(news: News): void {
    if (this.#watching.size === 0) return;
    if (this.#waiting.length === 0) queueMicrotask(() => this.#deliver());
    this.#waiting.push(news);
  }

  #deliver(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const watching of this.#watching) {
      if (!this.#hand(watching, waiting)) this.#watching.delete(watching);
    }
  }

  /** Answers whether the watcher took it. */
  #hand({ watcher, after }: Watching, all: readonly News[]): boolean {
    try {
      for (const news of all) {
        if (typeof news === "string") watcher.take(news);
        else if (!(news instanceof ActivityEvent)) tellStored(watcher, news);
        else if (news.sequence > after && !news.isForgotten && watcher.sees(news)) watcher.take(news.text);
      }
      return true;
    } catch (err) {
      this.#log.error({ err }, "A watcher of the activity failed");
      return false;
    }
  }
}

const keyOf = (agentId: string, ref: string | null) => `${agentId} ${ref}`;

/** The named event `persisted`. It has no id, since it is not replayed. */
function tellStored(watcher: Watcher, { agent, conversationId, ...row }: Persisted): void {
  const { conversation, rowsOf } = watcher;
  const tell = (data: object) => watcher.take(`event: persisted\ndata: ${JSON.stringify(data)}\n\n`);
  if (conversation?.ref === conversationId && conversation.agentId === agent.id) tell(row);
  else if (rowsOf?.(agent)) tell({ conversationId, ...row });
}
