import type { Log, Notify } from "./ports.ts";

/** The listeners of this process; without other replicas these are all of the installation. */
export interface LocalNotify extends Notify {
  /** Does nothing for a topic without listeners, such as one of another release. */
  publish(topic: string, key: string): void;
  /** Calls `onGap` of every listener. */
  gap(): void;
}

interface Listener {
  hear: (key: string) => unknown;
  onGap: (() => unknown) | undefined;
}

/** Tells only this process. A listener that throws is logged, and keeps no message from the others. */
export function localNotify(log: Log): LocalNotify {
  const topics = new Map<string, Set<Listener>>();

  // `await` also catches the rejection of a listener, which would end the process.
  const guard = async (topic: string, work: () => unknown) => {
    try {
      await work();
    } catch (err) {
      log.error({ err, topic }, "A listener failed");
    }
  };

  const each = (topic: string, listeners: ReadonlySet<Listener>, call: (listener: Listener) => unknown) => {
    // The copy leaves out listeners that are added meanwhile; `has` leaves out those that ended.
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
    close: async () => {},
  };
}
