import type { Services } from "../../../context/ctx.ts";
import type { BatchWork } from "../../../core/limits/batcher.ts";
import { batched } from "../../../db/batched.ts";
import { isRefusal } from "../../../jobs/unless-refused.ts";
import { type Reservation, reserve, settle } from "./budget.ts";

type AgentReservation = Reservation & { agentId: string };

type Used = AgentReservation & { used: number };

/** The budget of background calls, in statements that an agent's calls share. */
export interface SharedBudget {
  /** Reserves tokens. Resolves to the error of a failure, such as the 429. */
  reserve(held: AgentReservation): Promise<unknown>;
  /** Charges a call's tokens. Resolves to the error of a failure. */
  settle(used: Used): Promise<unknown>;
}

export function sharedBudget(services: Pick<Services, "database" | "clock">): SharedBudget {
  return {
    reserve: batched(
      services,
      byAgent((held: AgentReservations<AgentReservation>) =>
        reserve(services, { ...held[0], tokens: sumOf(held, "tokens"), turnId: null }),
      ),
    ),
    settle: batched(
      services,
      byAgent((calls: AgentReservations<Used>) =>
        settle(services.database, { ...calls[0], tokens: sumOf(calls, "tokens"), used: sumOf(calls, "used") }),
      ),
    ),
  };
}

type AgentReservations<Call> = readonly [Call, ...Call[]];

const asFailure = (error: unknown) => error;

const sumOf = <Name extends string>(items: readonly Record<Name, number>[], name: Name) =>
  items.reduce((sum, item) => sum + item[name], 0);

/** One statement for all calls of one agent and month; after a refusal one for each call, since some may fit. */
function byAgent<Call extends AgentReservation>(
  run: (calls: AgentReservations<Call>) => Promise<void>,
): BatchWork<Call, unknown> {
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
