import type { Services } from "../../../context/ctx.ts";
import type { BatchWork } from "../../../core/limits/batcher.ts";
import { batched } from "../../../db/batched.ts";
import { patiently, unlessDeadlocked } from "../../../db/retry.ts";
import type { Heartbeat } from "../../../jobs/heartbeat.ts";
import { isRefusal } from "../../../jobs/unless-refused.ts";
import type { Amount } from "./budget.ts";
import { type Hold, renewHolds, reserveHolds, settleHolds, settleLostHolds } from "./holds.ts";

/** How long a settlement waits for an unavailable database, in milliseconds; later the hold's lease runs out. */
const outageMs = 120_000;

/** The budget of this process's background calls, in statements that an agent's calls share. */
export interface SharedBudget {
  /** Reserves an amount. Rejects with the 429, and while the database is away: the hold must be settled all the same. */
  reserve(hold: Hold): Promise<void>;
  /** Replaces a hold by what was used, and waits for the database until `signal` aborts. */
  settle(call: Hold & { used: Amount }, signal: AbortSignal): Promise<void>;
  /** Upkeep: settles the holds of dead processes. */
  settleLost(): Promise<void>;
}

export function sharedBudget(services: Pick<Services, "database" | "clock">, heartbeat: Heartbeat): SharedBudget {
  const { database, clock } = services;
  const held = new Set<string>();
  heartbeat.add(() => renewHolds(database, [...held]));
  const reserveOne = batched(
    services,
    byAgent((holds) => reserveHolds(services, holds)),
  );
  const settleOne = batched(
    services,
    byAgent((calls: Several<Hold & { used: Amount }>) => settleHolds(database, calls)),
  );
  return {
    async reserve(hold) {
      held.add(hold.id);
      const failure = await reserveOne(hold);
      if (isRefusal(failure)) held.delete(hold.id);
      if (failure !== undefined) throw failure;
    },
    async settle(call, signal) {
      if (!held.has(call.id)) return;
      const until = clock.now() + outageMs;
      const attempt = async () => {
        const failure = await settleOne(call);
        if (failure !== undefined) throw failure;
      };
      try {
        await patiently(clock, attempt, () => !signal.aborted && clock.now() < until);
      } finally {
        held.delete(call.id);
      }
    },
    async settleLost() {
      if (heartbeat.mayTakeOver) await unlessDeadlocked(() => settleLostHolds(database, [...held]));
    },
  };
}

type Several<Call> = readonly [Call, ...Call[]];

const asFailure = (error: unknown) => error;

/** One statement for all calls of one agent and month; after a refusal one for each call, since some may fit. */
function byAgent<Call extends Hold>(run: (calls: Several<Call>) => Promise<void>): BatchWork<Call, unknown> {
  return async (calls) => {
    const failed = new Map<Call, unknown>();
    for (const [first, ...rest] of Map.groupBy(calls, ({ agentId, month }) => agentId + month).values()) {
      if (!first) continue;
      const all = [first, ...rest] as const;
      const error = await run(all).then(() => undefined, asFailure);
      if (error === undefined) continue;
      for (const call of all) {
        const alone = rest.length > 0 && isRefusal(error);
        failed.set(call, alone ? await run([call]).then(() => undefined, asFailure) : error);
      }
    }
    return calls.map((call) => failed.get(call));
  };
}
