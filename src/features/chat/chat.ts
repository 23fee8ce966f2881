import type { Services } from "../../context.ts";
import type { TtlCache } from "../../core/cache.ts";
import type { Verdict } from "../../http/throttle.ts";
import type { Turns } from "../turns/index.ts";
import type { ForeignTurns } from "./replay/foreign.ts";
import type { Replays } from "./replay/replay.ts";

/** A call that the fixed throttle refused, and until when it does. */
export interface RefusedCall {
  verdict: Verdict;
  until: number;
}

/** What the chat doors work with. */
export interface Chat {
  services: Services;
  turns: Turns;
  replays: Replays;
  foreign: ForeignTurns;
  /** Verdicts of the fixed throttle that refuse, by its key: until their window ends nothing of a call is looked at. */
  refused: TtlCache<RefusedCall>;
}
