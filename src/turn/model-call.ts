import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelCall as Asked, Clock, PartsReader } from "../core/ports.ts";
import { OutOfTime } from "./failure.ts";
import type { TurnModel } from "./models.ts";
import type { Limits } from "./types.ts";
import { watch } from "./watchdog.ts";

interface CallInput {
  model: Pick<TurnModel, "open">;
  options: Asked;
  /** The longest wait until the call first responds, and between two parts of its stream, in milliseconds. */
  limits: Pick<Limits, "connectMs" | "silenceMs">;
  signal: AbortSignal;
  clock: Clock;
}

type Read = Awaited<ReturnType<PartsReader["read"]>>;

/**
 * One model call as a stream of lists of parts, each list with the parts that arrived together. Every wait ends with
 * the signal, even if the provider ignores it.
 */
export class ModelCall {
  readonly #controller = new AbortController();
  readonly #watchdog;
  readonly #signal: AbortSignal;
  readonly #opening: Promise<PartsReader>;
  #reader: PartsReader | null = null;
  /** Rejects the wait for the stream. */
  #giveUp: (reason: unknown) => void = () => {};
  #timeout: OutOfTime | null = null;
  #ended = false;
  #closed = false;
  readonly #onAbort = () => this.close();

  constructor({ model, options, limits, signal, clock }: CallInput) {
    this.#signal = signal;
    this.#watchdog = watch(clock, limits, () => {
      this.#timeout = new OutOfTime("Model provider timed out");
      this.close();
    });
    this.#opening = this.#open(model, options);
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Waits for the next parts; pass the result to `heard`. Makes no promise of its own, since it runs for each token. */
  read(): Promise<Read> {
    return this.#reader ? this.#reader.read() : this.#opening.then((reader) => reader.read());
  }

  /** Returns the parts that were read, or null at the end of the stream. Throws when the call was closed meanwhile. */
  heard({ value }: Read): readonly LanguageModelV4StreamPart[] | null {
    if (this.#closed) throw this.#signal.reason;
    this.#watchdog.heard();
    if (value) return "type" in value ? [value] : value;
    this.#ended = true;
    return null;
  }

  /** The cause of a failed call: the time limit that passed, or else the error itself. */
  reasonFor(error: unknown): unknown {
    return this.#timeout ?? error;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watchdog.stop();
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#ended) return;
    this.#giveUp(this.#timeout ?? this.#signal.reason);
    this.#controller.abort(this.#timeout ?? this.#signal.reason ?? "unwanted");
    // Ends a pending read with `done` at once, even if the provider ignores the signal.
    this.#reader?.cancel().catch(() => {});
  }

  #open(model: CallInput["model"], options: Asked): Promise<PartsReader> {
    const asked = async () => {
      const opened = await model.open();
      const { stream } = await opened.doStream({ ...options, abortSignal: this.#controller.signal });
      const reader = stream.getReader();
      // The call was closed before its stream opened, so the stream is cancelled.
      if (this.#closed) void reader.cancel().catch(() => {});
      else this.#reader = reader;
      return reader;
    };
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      asked().then(resolve, reject);
    });
  }
}
