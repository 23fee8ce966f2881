import type { Instance } from "../../../../client/index.ts";

/** What each part of an agent is handed. */
export interface TabProps {
  agent: Instance;
  /** The parts of the address behind the tab's name. */
  rest: readonly string[];
  /** Reads the agent again. */
  onChange: () => Promise<void>;
}
