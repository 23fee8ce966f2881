import type { Services } from "../../../context/ctx.ts";
import type { Gathered } from "../../../jobs/together.ts";
import { isRefusal } from "../../../jobs/unless-refused.ts";
import { type Reservation, reserve, settle } from "./budget.ts";

type AgentReservation = Reservation & { agentId: string };

type Used = AgentReservation & { used: number };

/** The budget's two statements for calls of the background, each for many calls of an agent. */
export interface BudgetTogether {
  /** Holds tokens. Answers the error where that fails, such as the 429. */
  reserve: Gathered<AgentReservation, unknown>;
  /** Charges the tokens that a call took. Answers the error where that fails. */
  settle: Gathered<Used, unknown>;
}

export function budgetTogether(services: Pick<Services, "database" | "clock">): BudgetTogether {
  return {
    reserve: gathered((held) => reserve(services, { ...held[0], tokens: sumOf(held, "tokens"), turnId: null })),
    settle: gathered((calls) =>
      settle(services.database, { ...calls[0], tokens: sumOf(calls, "tokens"), used: sumOf(calls, "used") }),
    ),
  };
}

const asFailure = (error: unknown) => error;

const sumOf = <Name extends string>(items: readonly Record<Name, number>[], name: Name) =>
  items.reduce((sum, item) => sum + item[name], 0);

/** Does it once for all calls of one agent and month, and for each alone where that is refused: some may be granted. */
function gathered<Call extends AgentReservation>(
  run: (calls: readonly [Call, ...Call[]]) => Promise<void>,
): Gathered<Call, unknown> {
  return {
    async run(calls) {
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
    },
  };
}
