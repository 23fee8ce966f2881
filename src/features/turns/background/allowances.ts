import type { Services } from "../../../context/ctx.ts";
import { loopDelay } from "../../../core/admission/loop-delay.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import { Allowance } from "./allowance.ts";

/** The most allowances in memory. A deleted idle one only has to learn the limit of its model again. */
const mostKept = 500;

/** The allowances of the models that background work calls, one for each key. */
export class Allowances {
  readonly #services: Pick<Services, "clock" | "log">;
  readonly #loopDelay: () => number;
  readonly #kept = new Map<string, Allowance>();

  constructor(services: Pick<Services, "clock" | "log">) {
    this.#services = services;
    this.#loopDelay = loopDelay(services.clock);
  }

  of({ provider, model, baseUrl, apiKey }: ModelSpec): Allowance {
    const key = JSON.stringify([provider, model, baseUrl, apiKey]);
    const { clock, log } = this.#services;
    const allowance =
      this.#kept.get(key) ??
      new Allowance(
        clock,
        (restMs) =>
          log.debug({ provider, model, restMs }, "A model pushes back: the background asks it less at a time"),
        this.#loopDelay,
      );
    // Setting it anew makes this key the last one, so that the first ones were unused for longest.
    this.#kept.delete(key);
    this.#kept.set(key, allowance);
    if (this.#kept.size > mostKept) this.#forgetOne();
    return allowance;
  }

  #forgetOne(): void {
    for (const [key, allowance] of this.#kept) if (allowance.isIdle) return void this.#kept.delete(key);
  }
}
