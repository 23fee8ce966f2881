import type { Log, Notify } from "./ports.ts";

/** The listeners of this process; without other replicas, all listeners of the installation. */
export interface LocalNotify extends Notify {
  /** Publishes to this process. Ignores a topic without listeners, such as one of another release. */
  publish(topic: string, key: string): void;
  /** Calls `onGap` of every listener. */
  gap(): void;
}

interface Listener {
  hear: (key: string) => unknown;
  onGap: (() => unknown) | undefined;
}

/** Notifies only this process. If a listener throws, that is logged, and the others still get the message. */
export function localNotify(log: Log): LocalNotify {
  const topics = new Map<string, Set<Listener>>();

  // `await` also catches a listener's rejection, which would end the process.
  const guard = async (topic: string, work: () => unknown) => {
    try {
      await work();
    } catch (err) {
      log.error({ err, topic }, "A listener failed");
    }
  };

  const each = (topic: string, listeners: ReadonlySet<Listener>, call: (listener: Listener) => unknown) => {
    // The copy excludes listeners added meanwhile; `has` excludes removed ones.
    for (const listener of [...listeners]) {
      if (listeners.has(listener)) void guard(topic, () => call(listener));
    }
  };

  return {
    publish(topic, key) {
      each(topic, topics.get(topic) ?? new Set(), ({ hear }) => hear(key));
    },
    gap() {
      for (const [topic, listeners] of topics) each(topic, listeners, ({ onGap }) => onGap?.());
    },
    listen(topic, hear, onGap) {
      const listener: Listener = { hear, onGap };
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners.add(listener));
      return () => void listeners.delete(listener);
    },
    isHearing: () => true,
    close: async () => {},
  };
}
