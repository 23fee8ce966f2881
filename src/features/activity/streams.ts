import type { Context } from "hono";
import type { Ctx, Services } from "../../context/ctx.ts";
import type { Watcher } from "../../core/activity/bus.ts";
import { EngineError } from "../../core/errors.ts";
import { Tally } from "../../core/limits/tally.ts";
import type { AppEnv } from "../../http/environment.ts";
import { type EventSink, eventStream, eventStreamHeaders } from "../../http/sse.ts";
import type { OpenStreams, WatchedStream } from "../turns/index.ts";

/** The most unread events of a stream (decisions §10). */
const mostPending = 200;

interface Shown
  extends Pick<WatchedStream, "agentId" | "conversationId">,
    Pick<Watcher, "sees" | "conversation" | "rowsOf"> {}

/** The open activity streams of this process. */
export class ActivityStreams {
  readonly #services: Services;
  readonly #rights: Pick<OpenStreams, "watch">;
  readonly #sinks = new Set<EventSink>();
  readonly #open = new Tally();
  #stopped = false;

  constructor(services: Services, rights: Pick<OpenStreams, "watch">) {
    this.#services = services;
    this.#rights = rights;
  }

  /**
   * Responds with a stream of the events that `shown` selects. Throws the 503 when all connections of the policy
   * `activityConnections` are in use.
   */
  open(c: Context<AppEnv>, shown: Shown): Response {
    const ctx = c.get("ctx");
    // The response to HEAD has no reader who would end the stream.
    if (c.req.method === "HEAD") return new Response(null, { headers: eventStreamHeaders });
    const leave = this.#enter(ctx);
    const { clock, activity } = this.#services;
    const ends = [leave];
    const { response, sink } = eventStream({
      clock,
      signal: c.req.raw.signal,
      mostPending,
      onEnd() {
        for (const end of ends) end();
      },
    });
    this.#sinks.add(sink);
    ends.push(() => this.#sinks.delete(sink));
    sink.write(": connected\n\n");
    const { agentId, conversationId, ...watched } = shown;
    const revoke = ({ message }: EngineError) => {
      sink.write(`: ${message}\n\n`);
      sink.close();
    };
    ends.push(this.#rights.watch({ ctx, permission: "conversation:read", agentId, conversationId, revoke }));
    ends.push(activity.watch({ ...watched, take: sink.write }, lastSequence(c)));
    // The client may have disconnected already.
    if (c.req.raw.signal.aborted) for (const end of ends) end();
    return response;
  }

  /** Ends all streams and refuses new ones. */
  stop(): void {
    this.#stopped = true;
    for (const sink of this.#sinks) sink.close();
  }

  /** Takes a slot. The returned function releases it, once. */
  #enter({ actor, policies }: Ctx): () => void {
    const { total, perUser } = policies.values.activityConnections;
    const caller = actor.id ?? "";
    if (this.#stopped) throw full("The server is stopping");
    if (this.#open.sum >= total) throw full("Too many activity streams are open");
    if (this.#open.of(caller) >= perUser) throw full("You have too many activity streams open");
    this.#open.add(caller, 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#open.add(caller, -1);
    };
  }
}

const full = (message: string) => new EngineError("unavailable", message, { retryAfterSeconds: 60 });

/** The number in `Last-Event-ID`; 0 for an id of another server. */
function lastSequence(c: Context<AppEnv>): number {
  const id = c.req.header("Last-Event-ID") ?? "";
  return /^\d{1,15}$/.test(id) ? Number(id) : 0;
}
