import type { Clock, Log } from "../../core/ports.ts";
import type { Target } from "../../db/pool/connection.ts";
import { toCallersError, tooLate } from "../../db/pool/failures.ts";
import { openConnection } from "../../db/pool/open-connection.ts";
import { createOutage } from "./outage.ts";

interface Options {
  clock: Clock;
  log: Log;
  /** Sends a message to the channel, which `heard` is called for. */
  beat(): Promise<void>;
  /** Called when the channel is open; earlier messages may have been missed. */
  onListening(): void;
  onPayload(payload: string): void;
}

export interface Listening {
  /** Notes that a message of this process came back. */
  heard(): void;
  /** Whether the last one did. */
  isHearing(): boolean;
  close(): void;
}

const firstRetryMs = 100;
const longestRetryMs = 10_000;
/** A channel that is silent for this long is tried by a message. */
const beatMs = 5_000;
const answerMs = 5_000;

const unheard =
  "No message came back: behind a pooler that works by transaction, set DATABASE_LISTEN_URL to PostgreSQL's own address";

/**
 * Listens to a channel on a connection of its own, and reconnects when it is lost or hears no messages. postgres.js's
 * `listen` reconnects too, but may then end the process (its issues 1133, 1208 and 1216).
 */
export function listenTo(target: Target, channel: string, options: Options): Listening {
  const { clock, log, beat, onListening, onPayload } = options;
  const outage = createOutage(log, {
    began: "Other replicas can't be heard: what they change is noticed later",
    over: "Other replicas are heard again",
  });
  let failures = 0;
  let hearing = false;
  let end = () => {};
  let heard = () => {};

  const connect = () => {
    let over = false;
    let cancelTimer = () => {};

    const close = () => {
      over = true;
      hearing = false;
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
    const after = (ms: number, next: () => void) => {
      cancelTimer();
      cancelTimer = clock.after(ms, next);
    };
    const tryOut = async () => {
      let answered = false;
      heard = () => {
        answered = true;
        failures = 0;
        hearing = true;
        outage.worked();
        after(beatMs, tryOut);
      };
      const sent = await beat().then(
        () => true,
        () => false,
      );
      if (over || answered) return;
      // A message that was not sent can't be heard.
      if (sent) after(answerMs, () => lose(new Error(unheard)));
      else after(beatMs, tryOut);
    };

    const connection = openConnection(target, {
      // A pooler may stand between, which supports neither named statements nor the settings for them.
      prepare: false,
      clock,
      onClose: () => lose(new Error("The connection was closed")),
      onNotification: (payload) => {
        if (!over) onPayload(payload);
      },
    });
    end = close;
    after(answerMs, () => lose(tooLate()));
    connection.run(`listen ${channel}`, [], "objects").then(
      () => {
        if (over) return;
        cancelTimer();
        onListening();
        void tryOut();
      },
      (error: unknown) => lose(toCallersError(error)),
    );
  };

  connect();
  return { heard: () => heard(), isHearing: () => hearing, close: () => end() };
}
