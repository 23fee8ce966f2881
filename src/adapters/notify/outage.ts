import type { Log } from "../../core/ports.ts";

export interface Outage {
  failed(err: unknown): void;
  worked(): void;
}

/** Logs the first failure of an outage and its end, and nothing in between. */
export function createOutage(log: Log, { began, over }: { began: string; over: string }): Outage {
  let away = false;
  return {
    failed(err) {
      if (!away) log.warn({ err }, began);
      away = true;
    },
    worked() {
      if (away) log.info({}, over);
      away = false;
    },
  };
}
