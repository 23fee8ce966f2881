import type { Services } from "../../../context.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { admit } from "../access/admit.ts";
import type { Agents } from "../access/agents.ts";
import type { TurnRequest } from "../request.ts";
import type { RunningTurns, Turn } from "../turns.ts";
import { type WatchedTools, watchTools } from "./watch-tools.ts";

/** How an unattended turn ended. */
export interface Unattended {
  outcome: TurnOutcome;
  /** Whether it called a tool that may have changed something outside the engine. */
  acted: boolean;
}

export interface UnattendedOptions {
  /** The job's. With it the turn ends as `superseded`: another attempt of the job takes it anew. */
  signal: AbortSignal;
  /** Hears which tools the turn calls; absent where only the outcome counts. */
  watched?: WatchedTools;
  /** Told of the turn once it has its place; gives what to do at its end. */
  begun?: (turn: Turn) => () => void;
}

/** Takes a turn of the agent `slug` to its end, for which nobody waits. Throws the refusals before the turn. */
export type TakeUnattended = (slug: string, request: TurnRequest, options: UnattendedOptions) => Promise<Unattended>;

export function createTakeUnattended(
  { admission }: Services,
  { agents, takeTurn }: { agents: Agents } & Pick<RunningTurns, "takeTurn">,
): TakeUnattended {
  return async (slug, request, { signal, watched = watchTools(), begun = () => () => {} }) => {
    const turn = await agents.serve(slug, async (live) => {
      const grant = admit(live, slug, { type: "engine", whileInactive: false });
      watched.know([...grant.agent.tools.values(), ...(request.tools ?? [])]);
      const share = [grant.agent.row.organizationId, slug, request.origin.subject] as const;
      return admission.during(share, () => takeTurn(grant, request, watched));
    });
    const end = begun(turn);
    const giveWay = () => turn.abort("superseded");
    if (signal.aborted) giveWay();
    signal.addEventListener("abort", giveWay, { once: true });
    try {
      return { outcome: await turn.ended, acted: watched.acted() };
    } finally {
      signal.removeEventListener("abort", giveWay);
      end();
    }
  };
}
