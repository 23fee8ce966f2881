import type { TurnListener } from "../../../turn/observers.ts";
import type { Tool } from "../../../turn/types.ts";

/** Hears of a turn what tools it called. */
export interface WatchedTools extends TurnListener {
  /** The tools that the turn has. */
  know(tools: readonly Tool[]): void;
  /** Whether a tool was called, be it by a hook. */
  begun(): boolean;
  /** Whether the model called one that may change something outside the engine. */
  acted(): boolean;
}

export function watchTools(): WatchedTools {
  let external: ReadonlySet<string> = new Set();
  let [begun, acted] = [false, false];
  return {
    know(tools) {
      external = new Set(tools.filter(({ effect }) => effect === "external").map(({ name }) => name));
    },
    event(event) {
      if (event.type !== "tool-call" && event.type !== "hook-execution") return;
      begun = true;
      acted ||= event.type === "tool-call" && external.has(event.name);
    },
    begun: () => begun,
    acted: () => acted,
  };
}
