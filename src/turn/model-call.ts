import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelCall as Asked, Clock, PartsReader } from "../core/ports.ts";
import type { TurnInput } from "./types.ts";
import { watch } from "./watchdog.ts";

/** Time that ran out here. Its message is shown to the caller. */
export class OutOfTime extends Error {}

/** One call of the model as parts, in lists of those that came together. Each wait ends with the signal, even if the provider ignores the signal. */
export class ModelCall {
  readonly #controller = new AbortController();
  readonly #watchdog;
  readonly #signal: AbortSignal;
  readonly #opening: Promise<PartsReader>;
  #reader: PartsReader | null = null;
  #timeout: OutOfTime | null = null;
  #ended = false;
  #closed = false;
  readonly #onAbort = () => this.close();

  constructor(input: TurnInput, options: Asked, signal: AbortSignal, clock: Clock) {
    this.#signal = signal;
    this.#watchdog = watch(clock, input.limits, () => {
      this.#timeout = new OutOfTime("Model provider timed out");
      this.close();
    });
    this.#opening = this.#open(input, options);
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** The next parts, or null at the end of the stream. */
  async next(): Promise<readonly LanguageModelV4StreamPart[] | null> {
    try {
      this.#reader ??= await this.#opening;
      const { value } = await this.#reader.read();
      if (this.#closed) throw this.#timeout ?? this.#signal.reason;
      this.#watchdog.heard();
      if (value) return "type" in value ? [value] : value;
      this.#ended = true;
      return null;
    } catch (error) {
      throw this.#timeout ?? error;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watchdog.stop();
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#ended) return;
    this.#controller.abort(this.#timeout ?? this.#signal.reason ?? "unwanted");
    // A pending read answers "done" at once, whether or not the provider heeds the signal.
    this.#reader?.cancel().catch(() => {});
  }

  async #open(input: TurnInput, options: Asked) {
    const given = Promise.withResolvers<never>();
    given.promise.catch(() => {});
    this.#controller.signal.addEventListener("abort", () => given.reject(this.#timeout ?? this.#signal.reason), {
      once: true,
    });
    const opened = Promise.resolve(input.model.doStream({ ...options, abortSignal: this.#controller.signal }));
    // A stream that opens after we gave up has to be let go of.
    opened
      .then(({ stream }) => {
        if (this.#closed && !this.#reader) return stream.getReader().cancel();
      })
      .catch(() => {});
    const { stream } = await Promise.race([opened, given.promise]);
    return stream.getReader();
  }
}
