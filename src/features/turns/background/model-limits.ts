import type { Services } from "../../../context/ctx.ts";
import { loopDelay } from "../../../core/limits/loop-delay.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import { ModelLimit } from "./model-limit.ts";

/** The most limits in memory. A deleted one starts again as a new one. */
const mostKept = 500;

/** The limits of background calls, by model and key. */
export class ModelLimits {
  readonly #services: Pick<Services, "clock" | "log">;
  readonly #loopDelay: () => number;
  readonly #kept = new Map<string, ModelLimit>();

  constructor(services: Pick<Services, "clock" | "log">) {
    this.#services = services;
    this.#loopDelay = loopDelay(services.clock);
  }

  of({ provider, model, baseUrl, apiKey }: ModelSpec): ModelLimit {
    const key = JSON.stringify([provider, model, baseUrl, apiKey]);
    const { clock, log } = this.#services;
    const limit =
      this.#kept.get(key) ??
      new ModelLimit(
        clock,
        (restMs) =>
          log.debug({ provider, model, restMs }, "A model pushes back: the background asks it less at a time"),
        this.#loopDelay,
      );
    // Moves the key to the end of the map, so that the first keys are the least recently used.
    this.#kept.delete(key);
    this.#kept.set(key, limit);
    if (this.#kept.size > mostKept) this.#forgetOne();
    return limit;
  }

  #forgetOne(): void {
    for (const [key, limit] of this.#kept) if (limit.isIdle) return void this.#kept.delete(key);
  }
}
