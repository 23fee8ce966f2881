import type { Clock } from "../../core/ports.ts";

/** The longest delay of a Node timer, in milliseconds. A timer with a longer one fires at once. */
const longest = 2 ** 31 - 1;

/** The machine's clock. Its timers never keep the process alive; open sockets and busy threads do that. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fn) {
    let timer: NodeJS.Timeout;
    const arm = (left: number) => {
      const next = left > longest ? () => arm(left - longest) : fn;
      timer = setTimeout(next, Math.min(left, longest)).unref();
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};
