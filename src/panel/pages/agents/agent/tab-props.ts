import type { Instance } from "../../../../client/index.ts";

/** The properties of each tab of an agent. */
export interface TabProps {
  agent: Instance;
  /** The parts of the address after the tab's name. */
  rest: readonly string[];
  /** Reads the agent again. */
  onChange: () => Promise<void>;
}
