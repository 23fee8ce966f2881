import { EngineError } from "../../core/errors.ts";
import { refusalHeaders } from "../../http/throttle.ts";

/** So many replies may be under way to one client at a time, in this process. */
export const streamLimit = 256;

/** The chat replies that are under way, by the client that they go to: streams until their end, others until they are there. */
export class OpenStreams {
  readonly #counts = new Map<string, number>();

  /** Takes a place of the client's, and answers how to give it back. Throws the 429 when all are taken. */
  enter(client: string): () => void {
    const count = this.#counts.get(client) ?? 0;
    if (count >= streamLimit) throw tooMany();
    this.#counts.set(client, count + 1);
    let held = true;
    return () => {
      if (held) this.#leave(client);
      held = false;
    };
  }

  #leave(client: string): void {
    const count = this.#counts.get(client) ?? 0;
    if (count > 1) this.#counts.set(client, count - 1);
    else this.#counts.delete(client);
  }
}

function tooMany(): EngineError {
  const headers = refusalHeaders({ limit: streamLimit, remaining: 0, resetSeconds: 5 });
  return new EngineError("rate-limited", "Too many open streams", { headers });
}
