import type { Clock, Log } from "../../core/ports.ts";
import type { Collector, Span, SpanCounts } from "../../core/tracing.ts";
import type { Delivery } from "./deliver.ts";
import { requestJson, spanJson } from "./otlp.ts";

/** The state that all queues share. */
export interface SharedState {
  clock: Clock;
  log: Log;
  counts: SpanCounts;
  /** The characters of all batches that wait. */
  waiting: { length: number };
  deliver(collector: Collector, body: string, signal: AbortSignal): Promise<Delivery>;
}

/** How long the first trace of a batch waits for others, in milliseconds, and how many traces become spans at a time. */
const [gatherMs, mostAtOnce] = [1_000, 32];

/** The most traces that wait to become spans; their turns' texts are in memory. */
const mostGathered = 1_000;

/** The length of a full batch, and the most characters that wait for one collector and for all, in this order. */
const fullBatch = 512 * 1024;
const [mostWaiting, mostWaitingInAll] = [8 * 1024 * 1024, 64 * 1024 * 1024];

/** How often a batch is sent at most, and the pauses in between, in milliseconds. */
const attempts = 6;
const [firstWaitMs, longestWaitMs] = [1_000, 60_000];

/** The pause after a collector refused the key, in milliseconds. */
const closedMs = 60_000;

/** The spans of one request, as JSON, and the length of its body in characters. */
interface Batch {
  spans: readonly string[];
  length: number;
}

const batchOf = (spans: readonly string[]): Batch => ({
  spans,
  length: spans.reduce((sum, json) => sum + json.length, 0),
});

/** The traces for one collector: gathers them, makes batches, and sends one batch after the other. */
export class CollectorQueue {
  readonly #collector: Collector;
  readonly #shared: SharedState;
  readonly #gathered: (() => readonly Span[])[] = [];
  readonly #batches: Batch[] = [];
  #length = 0;
  #cancelGathering = () => {};
  #sending: Promise<void> | null = null;
  /** Ends the pause before the next attempt. */
  #hurry = () => {};
  #closedUntil = Number.NEGATIVE_INFINITY;
  #ending = false;
  readonly #controller = new AbortController();
  /** The current outage; null while the collector accepts batches. */
  #outage: { dropped: number } | null = null;

  constructor(collector: Collector, shared: SharedState) {
    this.#collector = collector;
    this.#shared = shared;
  }

  /** Whether the queue has nothing to send and no pause to wait for, so that it can be deleted. */
  get isIdle(): boolean {
    const rests = this.#closedUntil > this.#shared.clock.now();
    return this.#gathered.length === 0 && this.#batches.length === 0 && !rests;
  }

  add(make: () => readonly Span[]): void {
    const { clock } = this.#shared;
    const isClosed = this.#closedUntil > clock.now();
    // The spans of a dropped trace are not counted.
    if (isClosed) {
      this.#drop(1);
      return;
    }
    if (this.#gathered.length >= mostGathered) {
      this.#failed("More turns end than can be traced", 1);
      return;
    }
    this.#gathered.push(make);
    if (this.#gathered.length === 1) this.#gatherFor(gatherMs);
    else if (this.#gathered.length === mostAtOnce) this.#gatherFor(0);
  }

  /** Sends each waiting batch once, until the signal aborts. Never rejects. */
  async end(signal: AbortSignal): Promise<void> {
    const cutOff = () => this.#controller.abort(signal.reason);
    if (signal.aborted) cutOff();
    else signal.addEventListener("abort", cutOff, { once: true });
    this.#ending = true;
    this.#cancelGathering();
    while (this.#gathered.length > 0 && !signal.aborted) this.#make();
    this.#drop(this.#gathered.splice(0).length);
    this.#hurry();
    await this.#sending;
  }

  #gatherFor(ms: number): void {
    this.#cancelGathering();
    this.#cancelGathering = this.#shared.clock.after(ms, () => {
      this.#make();
      // Lets the process do other work before the rest.
      if (this.#gathered.length > 0) this.#gatherFor(0);
    });
  }

  /** Makes batches of the next traces. */
  #make(): void {
    let spans: string[] = [];
    let length = 0;
    const close = () => {
      if (spans.length > 0) this.#put(batchOf(spans));
      [spans, length] = [[], 0];
    };
    for (const make of this.#gathered.splice(0, mostAtOnce)) {
      for (const json of this.#spansOf(make)) {
        if (length > 0 && length + json.length > fullBatch) close();
        spans.push(json);
        length += json.length;
      }
    }
    close();
  }

  #spansOf(make: () => readonly Span[]): string[] {
    try {
      return make().map(spanJson);
    } catch (err) {
      this.#shared.log.error({ err }, "A trace could not be made");
      this.#shared.counts.dropped += 1;
      return [];
    }
  }

  #put(batch: Batch): void {
    const { length } = batch;
    if (this.#length + length > mostWaiting || this.#shared.waiting.length + length > mostWaitingInAll) {
      this.#failed("It takes less than it is sent", batch.spans.length);
      return;
    }
    this.#batches.push(batch);
    this.#count(length);
    this.#begin();
  }

  #begin(): void {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
      if (this.#batches.length > 0) this.#begin();
    });
  }

  #take(): void {
    this.#count(-(this.#batches.shift()?.length ?? 0));
  }

  #count(length: number): void {
    this.#length += length;
    this.#shared.waiting.length += length;
  }

  /** Replaces a batch by its halves. */
  #split({ spans }: Batch): void {
    this.#take();
    const middle = Math.ceil(spans.length / 2);
    const halves = [spans.slice(0, middle), spans.slice(middle)].map(batchOf);
    this.#batches.unshift(...halves);
    for (const { length } of halves) this.#count(length);
  }

  async #send(): Promise<void> {
    const { signal } = this.#controller;
    for (let batch = this.#batches[0], attempt = 1; batch; batch = this.#batches[0]) {
      const body = requestJson(this.#collector.resource, batch.spans);
      const delivery = await this.#shared.deliver(this.#collector, body, signal);
      const { kind, reason } = delivery;
      if (kind === "later" && attempt < attempts && !this.#ending) {
        this.#began(reason);
        await this.#wait(delivery.afterMs ?? firstWaitMs * 4 ** (attempt - 1));
        attempt += 1;
        continue;
      }
      attempt = 1;
      if (kind === "too-large" && batch.spans.length > 1) {
        this.#split(batch);
        continue;
      }
      this.#take();
      const count = batch.spans.length;
      if (kind === "taken") {
        this.#shared.counts.sent += Math.max(0, count - delivery.rejected);
        if (delivery.rejected === 0) this.#over();
        else this.#failed(reason, Math.min(count, delivery.rejected));
        continue;
      }
      this.#failed(reason, count);
      if (kind === "refused" && delivery.closed) this.#rest();
    }
  }

  #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#shared.clock.after(Math.min(ms, longestWaitMs), resolve);
    this.#hurry = () => {
      cancel();
      resolve();
    };
    if (this.#ending) this.#hurry();
    return promise;
  }

  /** Drops all waiting batches: the key is invalid, so they would be refused too. */
  #rest(): void {
    this.#closedUntil = this.#shared.clock.now() + closedMs;
    while (this.#batches[0]) {
      this.#drop(this.#batches[0].spans.length);
      this.#take();
    }
  }

  #drop(spans: number): void {
    this.#shared.counts.dropped += spans;
    if (this.#outage) this.#outage.dropped += spans;
  }

  #failed(reason: string, spans: number): void {
    this.#began(reason);
    this.#drop(spans);
  }

  #began(reason: string): void {
    if (this.#outage) return;
    this.#outage = { dropped: 0 };
    this.#shared.log.warn({ collector: this.#collector.name, reason }, "Traces cannot be delivered");
  }

  #over(): void {
    if (!this.#outage) return;
    const { dropped } = this.#outage;
    this.#outage = null;
    this.#shared.log.info({ collector: this.#collector.name, dropped }, "Traces are delivered again");
  }
}
