import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Db } from "./db/client.ts";
import type { AppEnv } from "./http/environment.ts";
import type { JobKinds } from "./jobs/attempt.ts";
import type { TurnObserver } from "./turn/observers.ts";
import type { Tool } from "./turn/types.ts";

/** An agent as far as tools are made for it. */
export interface ToolOwner {
  id: string;
  slug: string;
  organizationId: string;
  workspaceId: string;
  /** The tools that are switched on for it or that its hooks call, by canonical name; those of other sources too. */
  named: readonly string[];
}

/** The tools of one source that an agent may have; each is offered when its name is among `named`. */
export type ToolSource = (owner: ToolOwner) => Promise<readonly Tool[]>;

/** What a feature hands the engine, which merges what all of them hand over. Nothing else of it is mounted or called. */
export interface Contribution {
  /** Routes, in the order in which the document shows them. */
  routes?: readonly OpenAPIHono<AppEnv>[];
  /** Tools of turns: how a feature that stands above `turns` reaches a turn. */
  tools?: ToolSource;
  /** Told of every turn of this process. */
  observers?: readonly TurnObserver[];
  /** Background work, by kind. */
  jobs?: JobKinds;
  ticks?: Ticks;
  /** Takes away what the feature keeps of an agent outside the agent's rows, in the transaction that deletes it. */
  beforeAgentDelete?(tx: Db, agentId: string): Promise<void>;
  /** Runs at a start, before the first call. */
  boot?(): Promise<void>;
  /** Runs at a stop, in the order of the contributions: finishes or gives up what is under way within `graceMs`. */
  stop?(graceMs: number): Promise<void>;
}

/** Upkeep, by how often it is called. One that fails keeps no other back. */
export interface Ticks {
  /** Every 2 seconds: what callers notice. */
  often?(): Promise<void>;
  /** Every 5 seconds: leases, which last 30. */
  leases?(): Promise<void>;
  /** Every 10 seconds. */
  seldom?(): Promise<void>;
}
