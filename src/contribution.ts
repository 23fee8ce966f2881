import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Db } from "./db/client.ts";
import type { AppEnv } from "./http/environment.ts";
import type { JobKinds } from "./jobs/attempt.ts";
import type { OldRows } from "./jobs/old-rows.ts";
import type { DueWork } from "./jobs/schedule.ts";
import type { TurnObserver } from "./turn/observers.ts";
import type { Tool } from "./turn/types.ts";

/** The agent's data from which its tools are built. */
export interface ToolOwner {
  id: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
  /** The canonical names of all tools that are on for the agent or called by its hooks, of every source. */
  named: readonly string[];
}

/** Builds the tools of one source for an agent; only tools among `named` are offered. */
export type ToolSource = (owner: ToolOwner) => Promise<readonly Tool[]>;

/** The parts of a feature that the engine mounts and calls. */
export interface Contribution {
  /** Routes, in the order of the OpenAPI document. */
  routes?: readonly OpenAPIHono<AppEnv>[];
  /** Tools of turns, with which a feature above `turns` reaches a turn without an upward import. */
  tools?: ToolSource;
  /** Observers of every turn of this process. */
  observers?: readonly TurnObserver[];
  /** Background work, by kind. */
  jobs?: JobKinds;
  /** Selects due work, which becomes jobs of these kinds. */
  due?: DueWork;
  ticks?: Ticks;
  /** Rows that are deleted by age. */
  oldRows?: readonly OldRows[];
  /** Deletes an agent's data outside its rows, in the transaction that deletes the agent. */
  beforeAgentDelete?(tx: Db, agentId: string): Promise<void>;
  /** Runs at a start, before the first request. */
  boot?(): Promise<void>;
  /** Runs at a stop, in the order of the contributions: finishes running work within `graceMs`, or gives it up. */
  stop?(graceMs: number): Promise<void>;
}

/** One upkeep, or several. */
type Upkeep = (() => Promise<void>) | readonly (() => Promise<void>)[];

/** Upkeep, by interval. A failed one does not stop the others. */
export interface Ticks {
  /** Every 2 seconds, for changes that callers notice. */
  often?: Upkeep;
  /** Every 10 seconds. */
  seldom?: Upkeep;
}
