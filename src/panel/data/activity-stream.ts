import type { CallOptions, LiveEvent, PersistedEvent } from "../../client/index.ts";
import { api, isRefused } from "./api.ts";
import { noticeEnd } from "./session.ts";

/** A live event, or a stored one. */
export type StreamedActivity = LiveEvent | PersistedEvent;

/**
 * `connecting` before the first response; `lost` while a broken or refused connection is retried; `ended` when the
 * server says that there is nothing to follow.
 */
export type LiveState = "connecting" | "live" | "lost" | "ended";

export interface Listener {
  onEvent(event: StreamedActivity): void;
  onState(state: LiveState): void;
}

/** A message from the leading tab to the others. */
type News = { event: StreamedActivity } | { state: LiveState };

const firstPauseMs = 1_000;
const longestPauseMs = 15_000;

/**
 * The activity of an organization, over one connection for all tabs of the browser: with HTTP/1.1 a browser has six
 * connections to a server, and a seventh tab would wait forever. The leading tab holds the lock of this name and the
 * connection, and forwards events to the others. A tab that becomes visible becomes the leading one, since browsers
 * suspend hidden tabs; the server then repeats the last events, so that none is lost. Pages without TLS have no locks,
 * so there each visible tab has its own connection.
 */
export class ActivityStream {
  readonly #name: string;
  readonly #listeners = new Set<Listener>();
  readonly #channel: BroadcastChannel;
  #state: LiveState = "connecting";
  #leads = false;
  /** Ends the wait to become the leading tab, and the leading itself. */
  #turn = new AbortController();

  /** All tabs with the same `name` have the same rights. */
  constructor(name: string) {
    this.#name = name;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<News>) => {
      if (!this.#leads) this.#take(data);
    };
    document.addEventListener("visibilitychange", this.#look);
    this.#look();
  }

  get isUnused(): boolean {
    return this.#listeners.size === 0;
  }

  /** Adds a listener; the returned function removes it. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    listener.onState(this.#state);
    return () => void this.#listeners.delete(listener);
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.#look);
    this.#turn.abort();
    this.#channel.close();
  }

  readonly #look = () => {
    const isSeen = document.visibilityState === "visible";
    if (!navigator.locks) {
      this.#turn.abort();
      if (isSeen) void this.#lead(this.#newTurn());
    } else if (!this.#leads) {
      void this.#queue(isSeen);
    }
  };

  #newTurn(): AbortSignal {
    this.#turn.abort();
    this.#leads = false;
    this.#turn = new AbortController();
    return this.#turn.signal;
  }

  /** Waits until this tab leads, or takes the lead at once with `steals`; waits again after another tab took it. */
  async #queue(steals: boolean): Promise<void> {
    const signal = this.#newTurn();
    try {
      const options = steals ? { steal: true } : { signal };
      await navigator.locks.request(this.#name, options, () => this.#lead(signal));
    } catch {
      if (!signal.aborted) await this.#queue(false);
    }
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.#leads = true;
    this.#tell({ state: "connecting" });
    await this.#follow(signal);
    // Meanwhile this tab may already be waiting again.
    if (!signal.aborted) this.#leads = false;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    let pauseMs = firstPauseMs;
    let lastEventId: string | null = null;
    while (!signal.aborted) {
      try {
        const onOpen = () => {
          pauseMs = firstPauseMs;
          this.#tell({ state: "live" });
        };
        for await (const event of open(lastEventId, { signal, onOpen })) {
          if (event.id !== "") lastEventId = event.id;
          this.#tell({ event });
        }
      } catch (error) {
        if (signal.aborted) return;
        noticeEnd(error);
        if (isRefused(error, 403)) return this.#tell({ state: "ended" });
      }
      if (signal.aborted) return;
      this.#tell({ state: "lost" });
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
  }

  #tell(news: News): void {
    this.#channel.postMessage(news);
    this.#take(news);
  }

  #take(news: News): void {
    if ("state" in news) this.#state = news.state;
    for (const listener of this.#listeners) {
      if ("state" in news) listener.onState(news.state);
      else listener.onEvent(news.event);
    }
  }
}

const open = (lastEventId: string | null, options: CallOptions) =>
  api.streamConversations(lastEventId === null ? {} : { lastEventId }, options);

/** Waits; ends early when `signal` aborts. */
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
