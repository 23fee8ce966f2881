import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Db } from "./db/client.ts";
import type { AppEnv } from "./http/environment.ts";
import type { JobKinds } from "./jobs/attempt.ts";
import type { Erase } from "./jobs/erased-rows.ts";
import type { OldRows } from "./jobs/old-rows.ts";
import type { RetainedRows } from "./jobs/retained-rows.ts";
import type { DueWork } from "./jobs/schedule.ts";
import type { TurnObserver } from "./turn/observers.ts";
import type { Tool } from "./turn/types.ts";

/** The fields of an agent from which its tools are made. */
export interface ToolOwner {
  id: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
  /** The canonical names of all tools that are on for the agent or that its hooks call, from every source. */
  named: readonly string[];
}

/** Makes the tools of one source for an agent: only those among `named`. */
export type ToolSource = (owner: ToolOwner) => Promise<readonly Tool[]>;

/** The parts of a feature: the engine mounts and calls them. */
export interface Contribution {
  /** Routes, in the order of the OpenAPI document. */
  routes?: readonly OpenAPIHono<AppEnv>[];
  /** Tools of turns. By these a feature above `turns` reaches turns, without an import upwards. */
  tools?: ToolSource;
  /** Observers of every turn of this process. */
  observers?: readonly TurnObserver[];
  /** Background work, by kind. */
  jobs?: JobKinds;
  /** Selects the work that is due, which becomes jobs of these kinds. */
  due?: DueWork;
  ticks?: Ticks;
  /** Rows that are deleted by age. */
  oldRows?: readonly OldRows[];
  /** Rows that organizations' retention policies delete by age. */
  retained?: readonly RetainedRows[];
  /** Deletes data of an agent that is not deleted with the agent's row, in the transaction that deletes the agent. */
  beforeAgentDelete?(tx: Db, agentId: string): Promise<void>;
  /** Erases a person, in the order of the contributions. */
  erase?: Erase;
  /** Runs at a start, before the first request. */
  boot?(): Promise<void>;
  /** Runs at a stop, in the order of the contributions: lets running work finish within `graceMs`, then gives it up. */
  stop?(graceMs: number): Promise<void>;
}

/** One function, or several. */
type Upkeep = (() => Promise<void>) | readonly (() => Promise<void>)[];

/** Upkeep by interval. If one function fails, the others still run. */
export interface Ticks {
  /** Every 2 seconds, for changes that callers notice. */
  often?: Upkeep;
  /** Every 10 seconds. */
  seldom?: Upkeep;
}
