import type { Services } from "../../context/ctx.ts";
import type { TtlCache } from "../../core/cache.ts";
import type { ThrottleResult } from "../../core/limits/throttle.ts";
import type { Turns } from "../turns/index.ts";
import type { Continuations } from "./replay/continuations.ts";
import type { ForeignTurns } from "./replay/foreign.ts";
import type { Replays } from "./replay/replay.ts";

/** A refusal by a throttle. */
interface RefusedCall {
  result: ThrottleResult;
  /** The end of the throttle's window, in milliseconds since the epoch. */
  until: number;
}

/** The state that all chat endpoints share. */
export interface Chat {
  services: Services;
  turns: Turns;
  replays: Replays;
  continuations: Continuations;
  foreign: ForeignTurns;
  /** Refusals by throttle key. Until a window ends, its requests are refused without a statement. */
  refused: TtlCache<RefusedCall>;
  /** Keys, as marks, together with client addresses that recently sent them as right keys. */
  keyHolders: TtlCache<true>;
}
