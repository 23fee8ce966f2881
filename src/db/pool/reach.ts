import type { Clock } from "../../core/ports.ts";
import type { Target } from "./connection.ts";
import { isReadOnly, takesNoWrites, toCallersError, tooLate } from "./failures.ts";
import { openConnection, sessionName } from "./open-connection.ts";

/** The deadline of a probe, and of a statement while the server does not answer, in milliseconds. */
const probeMs = 3_000;

interface Options {
  clock: Clock;
  /** The sessions that wait for an answer. */
  sessions(): string[];
  /** Called with those of them that the server does not work for: their statement, or its answer, was lost. */
  onLost(sessions: readonly string[], since: number): void;
  /** Called when a probe found that the server does not answer. `since`: when the probe began. */
  onSilent(since: number): void;
}

const lost = `
  select session from unnest($1::text[]) as session
  except select ${sessionName} from pg_stat_activity where state not like 'idle%'`;

/**
 * Probes whether a server answers and takes writes, on a connection of its own. A server that accepts connections but
 * never answers would cost every caller the whole deadline of a statement. So a probe runs while a statement is slow,
 * and until the server serves again, callers wait only for a probe.
 */
export class Reach {
  readonly #target: Target;
  readonly #options: Options;
  /** Why the server can't be used; null while it can. */
  #failure: unknown = null;
  #answers = 0;
  #probe: Promise<void> | null = null;

  constructor(target: Target, options: Options) {
    this.#target = target;
    this.#options = options;
  }

  get isDown(): boolean {
    return this.#failure !== null;
  }

  /** Notes an answer of the server. */
  answered(): void {
    this.#answers += 1;
    this.#failure = null;
  }

  /** Notes that the server takes no writes. */
  readOnly(): void {
    this.#failure = takesNoWrites();
  }

  /** Begins a probe, unless one is running. */
  doubt(): void {
    void this.#ask();
  }

  /** Resolves once a probe finds that the server serves; throws the 503 when it does not. */
  async require(): Promise<void> {
    await this.#ask();
    if (this.isDown) throw toCallersError(this.#failure);
  }

  #ask(): Promise<void> {
    this.#probe ??= this.#askOnce().finally(() => {
      this.#probe = null;
    });
    return this.#probe;
  }

  async #askOnce(): Promise<void> {
    const { clock, sessions, onLost, onSilent } = this.#options;
    const [since, before] = [clock.now(), this.#answers];
    const { promise: silence, resolve } = Promise.withResolvers<"silence">();
    const cancel = clock.after(probeMs, () => resolve("silence"));
    const connection = openConnection(this.#target, { prepare: false, clock });
    const asked = connection.run(lost, [sessions()], "objects").catch((error: unknown) => {
      if (isReadOnly(error)) return "read-only";
      // A refusal is an answer, and as fast.
      return [];
    });
    const heard = await Promise.race([asked, silence]);
    cancel();
    connection.destroy();
    if (heard === "read-only") return this.readOnly();
    if (heard !== "silence") {
      this.answered();
      return onLost(
        (heard as readonly { session: string }[]).map(({ session }) => session),
        since,
      );
    }
    if (this.#answers > before) return;
    this.#failure = tooLate();
    onSilent(since);
  }
}
