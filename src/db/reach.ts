import type { Clock } from "../core/ports.ts";
import { openConnection, type Target } from "./connection.ts";
import { tooLate } from "./failures.ts";

/** The deadline of a probe, and of a statement while the server does not answer, in milliseconds. */
const probeMs = 3_000;

interface Options {
  clock: Clock;
  /** Called when a probe found that the server does not answer. */
  onDown(): void;
}

/**
 * Probes whether a server answers. A server that accepts connections but never answers would cost every caller the
 * whole deadline of a statement. So after a slow statement a probe runs on a connection of its own, and until the
 * server answers again, callers wait only for a probe.
 */
export class Reach {
  readonly #target: Target;
  readonly #options: Options;
  #down = false;
  #answers = 0;
  #probe: Promise<void> | null = null;

  constructor(target: Target, options: Options) {
    this.#target = target;
    this.#options = options;
  }

  get isDown(): boolean {
    return this.#down;
  }

  /** Notes an answer of the server. */
  answered(): void {
    this.#answers += 1;
    this.#down = false;
  }

  /** Begins a probe, unless one is running. */
  doubt(): void {
    void this.#ask();
  }

  /** Resolves once the server answers a probe; throws the 503 when it does not. */
  async require(): Promise<void> {
    await this.#ask();
    if (this.#down) throw tooLate();
  }

  #ask(): Promise<void> {
    this.#probe ??= this.#askOnce().finally(() => {
      this.#probe = null;
    });
    return this.#probe;
  }

  async #askOnce(): Promise<void> {
    const before = this.#answers;
    const { promise: silence, resolve } = Promise.withResolvers<"silence">();
    const cancel = this.#options.clock.after(probeMs, () => resolve("silence"));
    const connection = openConnection(this.#target, { prepare: false });
    const asked = connection.run("select 1", [], "objects").catch(() => "a refusal is an answer, and as fast");
    const heard = await Promise.race([asked, silence]);
    cancel();
    connection.destroy();
    if (heard !== "silence") return this.answered();
    if (this.#answers > before) return;
    this.#down = true;
    this.#options.onDown();
  }
}
