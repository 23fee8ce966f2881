import type { Services } from "../../../context/ctx.ts";
import { type ForgottenConversation, type StoredRowNotice, tellsBegin } from "../../../core/activity/activity.ts";
import { type ActivityBus, type Outside, ringSize } from "../../../core/activity/bus.ts";
import { ActivityEvent } from "../../../core/activity/event.ts";
import type { Clock, Notify } from "../../../core/ports.ts";
import { Heard } from "./heard.ts";
import { isForAll, isFrom, type Message, read, type SentEvent, toSent, write } from "./messages.ts";

/** In milliseconds. Events of this interval are sent together; if they exceed a ring's size, the oldest are dropped. */
const gatherMs = 50;
/** A process with watchers announces itself at this interval, in milliseconds. An announcement is valid for `wordMs`. */
const sayMs = 10_000;
const wordMs = 30_000;
/** The shortest time between two requests for missed events. */
const askMs = 1_000;
/** How many other processes are tracked, the most recently active ones: one notice contains all their numbers. */
const mostProcesses = 100;

/**
 * Connects the activity buses of all processes on a database. A process with watchers announces itself, with the
 * numbers of the events that it has received. The others send it the events that it misses, as far as their rings hold
 * them, and all later ones. Without watchers elsewhere nothing is sent. Events are numbered within their process, so
 * that none is received twice and a missing one is noticed.
 */
export class Bridge implements Outside {
  readonly #bus: ActivityBus;
  readonly #notify: Notify;
  readonly #clock: Clock;
  readonly #heard = new Map<string, Heard>();
  #watchedElsewhereUntil = 0;
  #events: ActivityEvent[] = [];
  #rows: StoredRowNotice[] = [];
  #askedAt = Number.NEGATIVE_INFINITY;
  #cancelFlush: (() => void) | null = null;
  #cancelAsk = () => {};
  readonly #unlisten: () => void;

  constructor({ activity, notify, clock }: Pick<Services, "activity" | "notify" | "clock">) {
    this.#bus = activity;
    this.#notify = notify;
    this.#clock = clock;
    activity.join(this);
    this.#unlisten = notify.listen(
      "activity",
      (text) => this.#hear(text),
      () => this.#catchUp(),
    );
  }

  happened(event: ActivityEvent): void {
    if (!this.#isWatchedElsewhere()) return;
    this.#events.push(event);
    if (this.#events.length > ringSize) this.#events.shift();
    this.#plan();
  }

  stored(row: StoredRowNotice): void {
    if (!this.#isWatchedElsewhere()) return;
    this.#rows.push(row);
    if (this.#rows.length > ringSize) this.#rows.shift();
    this.#plan();
  }

  deleted(conversation: ForgottenConversation): void {
    this.#send({ type: "deleted", conversation });
  }

  watched(): void {
    for (const heard of this.#heard.values()) heard.isComplete = false;
    this.#ask();
  }

  stop(): void {
    this.#unlisten();
    this.#cancelAsk();
    this.#cancelFlush?.();
    this.#flush();
  }

  #isWatchedElsewhere(): boolean {
    return this.#watchedElsewhereUntil > 0 && this.#clock.now() < this.#watchedElsewhereUntil;
  }

  #plan(): void {
    this.#cancelFlush ??= this.#clock.after(gatherMs, () => this.#flush());
  }

  #flush(): void {
    this.#cancelFlush = null;
    const [events, rows] = [this.#events, this.#rows];
    this.#events = [];
    this.#rows = [];
    for (const event of events) this.#sendEvent(event, true);
    for (const row of rows) this.#send({ type: "row", row });
  }

  #sendEvent(event: ActivityEvent, live: boolean): void {
    if (event.isForgotten) this.#send({ type: "gone", upTo: event.number ?? 0, isForgotten: true });
    else this.#send({ type: "event", event: toSent(event), live });
  }

  #send(message: Message): void {
    this.#notify.publish("activity", write(this.#bus.process, message));
  }

  /** Announces this process, and repeats that while it has watchers. */
  #ask(): void {
    this.#cancelAsk();
    if (this.#bus.watchers === 0) return;
    this.#askedAt = this.#clock.now();
    const heard = Object.fromEntries([...this.#heard].map(([process, { upTo }]) => [process, upTo]));
    this.#send({ type: "watched", heard });
    this.#cancelAsk = this.#clock.after(sayMs, () => this.#ask());
  }

  /** Requests events again after notices were lost, and maybe also announcements. */
  #catchUp(): void {
    this.#send({ type: "who" });
    this.#askSoon();
  }

  #askSoon(): void {
    // Not longer if the clock was set back since the last request.
    const wait = Math.min(askMs, this.#askedAt + askMs - this.#clock.now());
    this.#cancelAsk();
    if (wait <= 0) this.#ask();
    else this.#cancelAsk = this.#clock.after(wait, () => this.#ask());
  }

  #hear(text: string): void {
    if (isFrom(this.#bus.process, text)) return;
    // Without watchers here events are skipped; the first watcher requests them again.
    if (this.#bus.watchers === 0 && !isForAll(text)) return;
    const said = read(text);
    if (said === null) return;
    const { from, message } = said;
    if (message.type === "watched") this.#answer(message.heard[this.#bus.process] ?? 0);
    if (message.type === "who") this.#askSoon();
    if (message.type === "gone") this.#forget(from, message);
    if (message.type === "event") this.#receive(from, message.event, message.live);
    if (message.type === "row") this.#bus.receivePersisted(message.row);
    if (message.type === "deleted") this.#bus.receiveForgotten(message.conversation);
  }

  #answer(after: number): void {
    this.#watchedElsewhereUntil = this.#clock.now() + wordMs;
    const own = this.#bus.ring.filter(({ number }) => number !== null && number > after);
    const oldest = own[0]?.number ?? this.#bus.emitted + 1;
    if (oldest > after + 1) this.#send({ type: "gone", upTo: oldest - 1 });
    for (const event of own) this.#sendEvent(event, false);
  }

  #forget(from: string, { upTo, isForgotten = false }: Extract<Message, { type: "gone" }>): void {
    const heard = this.#heardOf(from);
    if (isForgotten) {
      if (heard.add(upTo)) this.#lookBehind(heard);
      return;
    }
    const missed = heard.skip(upTo);
    if (missed > 0 && heard.isComplete) this.#bus.remark(`${missed} events of another replica were lost`);
    heard.isComplete = true;
  }

  #receive(from: string, { number, data, ...owner }: SentEvent, live: boolean): void {
    const heard = this.#heardOf(from);
    if (!heard.add(number)) return;
    const agent = { ...owner, id: data.instance.id };
    const event = new ActivityEvent(JSON.stringify(data), Date.parse(data.ts), agent, data.conversationId);
    this.#bus.receive(event, { live, begins: tellsBegin(data) });
    this.#lookBehind(heard);
  }

  #lookBehind(heard: Heard): void {
    if (heard.isMissing) this.#askSoon();
    else heard.isComplete = true;
  }

  /** Moves a process to the end, so that processes that have been silent for long come first and are dropped. */
  #heardOf(process: string): Heard {
    const heard = this.#heard.get(process) ?? new Heard();
    this.#heard.delete(process);
    this.#heard.set(process, heard);
    const [first] = this.#heard.keys();
    if (this.#heard.size > mostProcesses && first !== undefined) this.#heard.delete(first);
    return heard;
  }
}
