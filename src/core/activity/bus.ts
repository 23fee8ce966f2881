import { newId } from "../ids.ts";
import type { Clock, Log } from "../ports.ts";
import {
  type ActingConversation,
  type Activity,
  type ActivityKind,
  type ForgottenConversation,
  type OwningAgent,
  type StoredRowNotice,
  tellsBegin,
} from "./activity.ts";
import { ActivityEvent } from "./event.ts";

/** The number of stored events (spec "Limits", "Activity ring buffer"). */
export const ringSize = 100;
/** In milliseconds: after this time, all turns of a deleted conversation have been stopped. */
const stoppedMs = 60_000;

/** A client that follows the activity. */
export interface Watcher {
  sees(event: ActivityEvent): boolean;
  /** The conversation whose stored rows the watcher gets; null for none. */
  conversation: ActingConversation | null;
  /** Whether the watcher also gets all stored rows of an agent. */
  rowsOf?: (agent: OwningAgent) => boolean;
  /** Receives complete server-sent events, in order. */
  take(text: string): void;
}

/** The connection to the buses of other processes. */
export interface Outside {
  happened(event: ActivityEvent): void;
  stored(row: StoredRowNotice): void;
  deleted(conversation: ForgottenConversation): void;
  /** Called when the first watcher arrives. */
  watched(): void;
}

/** An event, a stored row, or a comment. */
type News = ActivityEvent | StoredRowNotice | string;

interface Watching {
  watcher: Watcher;
  /** Events up to this sequence number are not sent: they were sent before, or not asked for. */
  after: number;
}

/**
 * Sends activity to all watchers (spec "Activity bus"). Watchers get events only when the reporting code pauses, so
 * that no turn waits for the writing.
 */
export class ActivityBus {
  /** The id of this bus for other processes. */
  readonly process = newId();
  readonly #clock: Clock;
  readonly #log: Log;
  /** The last events, by time. */
  readonly #ring: ActivityEvent[] = [];
  /**
   * When conversations were deleted, until they begin again. Events of their running turns are sent, but not stored.
   */
  readonly #deleted = new Map<string, number>();
  readonly #watching = new Set<Watching>();
  #waiting: News[] = [];
  /** How many events of each kind this process has reported. */
  readonly #counts = new Map<ActivityKind, number>();
  #numbers = 0;
  /**
   * Begins at the current time, so that a client's number from another process is not taken for a number of this one.
   */
  #sequence: number;
  #outside: Outside | null = null;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
    this.#sequence = clock.now();
  }

  /** Reports an activity of this process. Returns at once and never throws. */
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

  /**
   * Reports a stored row to the conversation's watchers. Call it after the commit. Returns at once and never throws.
   */
  persisted(row: StoredRowNotice): void {
    this.#outside?.stored(row);
    this.#tell(row);
  }

  /**
   * Deletes the events of a deleted conversation, or of an agent. Call it after the commit. Returns at once and never
   * throws.
   */
  forget(conversation: ForgottenConversation): void {
    this.receiveForgotten(conversation);
    this.#outside?.deleted(conversation);
  }

  /**
   * Sends the last events after sequence number `after` (all of them, if the number is not of this process), and then
   * new events: each once. The returned function ends this.
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

  /** The number of events that this process has emitted. */
  get emitted(): number {
    return this.#numbers;
  }

  /** The sequence number of the last event. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The last events, of all agents. */
  get ring(): readonly ActivityEvent[] {
    return this.#ring;
  }

  /** Sets the connection to other processes, which gets all events reported here. */
  join(outside: Outside): void {
    this.#outside = outside;
  }

  /**
   * Adds an event of another process; `begins`: it begins its conversation. If the ring is full and the event older
   * than all in it, the event is sent only if it is `live`.
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
  receivePersisted(row: StoredRowNotice): void {
    this.#tell(row);
  }

  /** `forget`, called by another process. */
  receiveForgotten({ agentId, ref }: ForgottenConversation): void {
    const now = this.#clock.now();
    for (const [key, at] of this.#deleted) if (at < now - stoppedMs) this.#deleted.delete(key);
    if (ref !== null) this.#deleted.set(keyOf(agentId, ref), now);
    for (const event of this.#ring) {
      if (event.agent.id === agentId && (ref === null || event.conversationId === ref)) event.forget();
    }
  }

  /** Sends all watchers a comment about the stream itself. */
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

  /** Passes news to a watcher. Returns false when the watcher failed. */
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

/** Sends the named event `persisted`, without an id: it is not sent again to clients that resume. */
function tellStored(watcher: Watcher, { agent, conversationId, ...row }: StoredRowNotice): void {
  const { conversation, rowsOf } = watcher;
  const tell = (data: object) => watcher.take(`event: persisted\ndata: ${JSON.stringify(data)}\n\n`);
  if (conversation?.ref === conversationId && conversation.agentId === agent.id) tell(row);
  else if (rowsOf?.(agent)) tell({ conversationId, ...row });
}
