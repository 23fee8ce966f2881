import type { JsonValue, Tool } from "../../turn/types.ts";
import { getState, setState } from "./builtin.ts";

/** `getState` and `setState`, for the state of a turn's conversation. */
export const stateTools: readonly Tool[] = [
  getState.implement(async ({ key }, { state }) =>
    key === undefined ? { state: state.visible() } : { key, value: state.get(key) ?? null },
  ),
  setState.implement(async ({ key, value }, { state }) => {
    state.set(key, value as JsonValue);
    return { saved: true };
  }),
];
