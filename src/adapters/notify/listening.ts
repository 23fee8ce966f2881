import type { Clock, Log } from "../../core/ports.ts";
import { openConnection, type Target } from "../../db/connection.ts";
import { toCallersError, tooLate } from "../../db/failures.ts";
import { createOutage } from "./outage.ts";

interface Listening {
  clock: Clock;
  log: Log;
  /** Called when the channel is open; earlier messages may have been missed. */
  onListening(): void;
  onPayload(payload: string): void;
}

const firstRetryMs = 100;
const longestRetryMs = 10_000;
/** The interval of tests: a silently dropped connection is noticed within `beatMs` and `answerMs`. */
const beatMs = 30_000;
const answerMs = 10_000;

/**
 * Listens to a channel on a connection of its own, and reconnects when it is lost. postgres.js's `listen` reconnects
 * too, but may then end the process (its issues 1133, 1208 and 1216). The returned function disconnects.
 */
export function listenTo(target: Target, channel: string, { clock, log, onListening, onPayload }: Listening) {
  const outage = createOutage(log, {
    began: "Other replicas can't be heard: what they change is noticed later",
    over: "Other replicas are heard again",
  });
  let failures = 0;
  let end = () => {};

  const connect = () => {
    let over = false;
    let cancelTimer = () => {};

    const close = () => {
      over = true;
      cancelTimer();
      connection.destroy();
    };
    const lose = (error: unknown) => {
      if (over) return;
      close();
      outage.failed(error);
      end = clock.after(Math.min(firstRetryMs * 2 ** failures, longestRetryMs), connect);
      failures += 1;
    };
    const ask = (statement: string, then: () => void) => {
      cancelTimer = clock.after(answerMs, () => lose(tooLate()));
      const answered = () => {
        if (over) return;
        cancelTimer();
        then();
      };
      connection.run(statement, [], "objects").then(answered, (error: unknown) => lose(toCallersError(error)));
    };
    const beat = () => {
      cancelTimer = clock.after(beatMs, () => ask("select 1", beat));
    };

    const connection = openConnection(target, {
      // There may be a pooler in between, which supports neither named statements nor the settings for them.
      prepare: false,
      onClose: () => lose(new Error("The connection was closed")),
      onNotification: (payload) => {
        if (!over) onPayload(payload);
      },
    });
    end = close;
    ask(`listen ${channel}`, () => {
      failures = 0;
      outage.worked();
      beat();
      onListening();
    });
  };

  connect();
  return () => end();
}
