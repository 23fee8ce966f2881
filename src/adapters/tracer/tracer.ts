import type { Clock, Log } from "../../core/ports.ts";
import type { Collector, Tracer } from "../../core/tracing.ts";
import type { Post } from "../models/post.ts";
import { deliver } from "./deliver.ts";
import { projectsOf } from "./projects.ts";
import { CollectorQueue, type SharedState } from "./queue.ts";

interface Options {
  clock: Clock;
  log: Log;
  post: Post;
  fetch?: typeof globalThis.fetch;
}

/** With more collectors than this, idle ones are deleted. */
const mostKept = 1_000;

/** Sends spans by OTLP over HTTP, as JSON. Each collector has its own queue, so that a slow one delays no other. */
export function createTracer({ clock, log, post, fetch = globalThis.fetch }: Options): Tracer {
  const shared: SharedState = {
    clock,
    log,
    counts: { sent: 0, dropped: 0 },
    waiting: { length: 0 },
    deliver: (collector, body, signal) => deliver({ clock, post }, collector, body, signal),
  };
  const queues = new Map<string, CollectorQueue>();
  let closed = false;

  const queueOf = (collector: Collector): CollectorQueue => {
    const known = queues.get(collector.id);
    if (known) return known;
    if (queues.size >= mostKept) for (const [id, queue] of queues) if (queue.isIdle) queues.delete(id);
    const queue = new CollectorQueue(collector, shared);
    queues.set(collector.id, queue);
    return queue;
  };

  return {
    send(collector, make) {
      if (closed) shared.counts.dropped += 1;
      else queueOf(collector).add(make);
    },
    projectsOf: (key) => projectsOf({ clock, fetch }, key),
    counts: () => ({ ...shared.counts }),
    async close(ms) {
      closed = true;
      const controller = new AbortController();
      const cancel = clock.after(ms, () => controller.abort(new Error("The process stops")));
      if (ms === 0) controller.abort(new Error("The process stops"));
      await Promise.all([...queues.values()].map((queue) => queue.end(controller.signal)));
      cancel();
    },
  };
}
