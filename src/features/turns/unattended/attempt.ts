import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import type { TurnListener } from "../../../turn/observers.ts";
import type { Tool, TurnOutcome } from "../../../turn/types.ts";
import { admit } from "../access/admit.ts";
import type { Agents } from "../access/agents.ts";
import { type Alongside, nothing } from "../alongside.ts";
import type { TurnRequest } from "../request.ts";
import type { RunningTurns, Turn } from "../turns.ts";
import { type AttemptEnd, endOfError, endOfTurn, interrupted, type Tries } from "./end.ts";

/** One attempt at unattended work: one turn. */
export interface Attempt {
  /** The slug of the agent. */
  slug: string;
  tries: Tries;
  /** The signal of the job. When it aborts, the turn ends as `superseded`, and another attempt does the work again. */
  signal: AbortSignal;
  /** Fields for its log lines. */
  about: Readonly<Record<string, unknown>>;
  /** Makes the request, or ends the attempt without a turn. */
  request(): Promise<Omit<TurnRequest, "alongside"> | AttemptEnd>;
  /** The rows to write with a turn that ends so. Null: only the turn's row, since another attempt follows. */
  alongside(outcome: TurnOutcome, turnId: string, end: AttemptEnd): Alongside | null;
  /** Receives the tool calls of the turn; absent when only the end counts. */
  watched?: WatchedTools;
  /** Called once the turn has its slot; the returned function is called at its end. */
  begun?(turn: Turn): () => void;
}

export interface AttemptResult {
  /** The number of attempts, including this one. */
  tried: number;
  end: AttemptEnd;
  /** Null when no turn was taken. */
  turn: { id: string; outcome: TurnOutcome } | null;
}

/**
 * Runs the turn of an attempt, and decides its end by the rules of all unattended work. The caller stores the end, then
 * calls `repeatLater`.
 */
export type AttemptTurn = (attempt: Attempt) => Promise<AttemptResult>;

/** How long an attempt waits for a turn that another process runs, in milliseconds. */
const takenMs = 5_000;

export function createAttempt(
  { admission, log }: Services,
  { agents, takeTurn }: { agents: Agents } & Pick<RunningTurns, "takeTurn">,
): AttemptTurn {
  const take = async (attempt: Attempt, asked: Omit<TurnRequest, "alongside">): Promise<AttemptResult> => {
    const { slug, tries, signal, watched = watchTools(), begun = () => () => {} } = attempt;
    const endOf = (outcome: TurnOutcome) => endOfTurn(outcome, watched.acted(), tries);
    const request: TurnRequest = {
      ...asked,
      alongside: (outcome, turnId) =>
        attempt.alongside(outcome, turnId, endOf(outcome)) ?? { ...nothing, discarded: true },
    };
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
      const outcome = await turn.ended;
      return { tried: tries.tried, end: endOf(outcome), turn: { id: turn.id, outcome } };
    } finally {
      signal.removeEventListener("abort", giveWay);
      end();
    }
  };

  return async (attempt) => {
    const { tries, signal, about } = attempt;
    const without = (end: AttemptEnd): AttemptResult => ({ tried: tries.tried, end, turn: null });
    let fenced = false;
    try {
      const asked = await attempt.request();
      if ("kind" in asked) return without(asked);
      signal.throwIfAborted();
      fenced = Boolean(asked.idempotency);
      return await take(attempt, asked);
    } catch (error) {
      if (signal.aborted) return without(interrupted);
      if (error instanceof Postponed) throw error;
      if (fenced && error instanceof EngineError && error.code === "conflict") {
        return without({ kind: "defer", reason: error.message, ms: takenMs });
      }
      if (!(error instanceof EngineError)) log.error({ ...about, err: error }, "Unattended work met an error");
      return without(endOfError(error, tries));
    }
  };
}

/** Records which tools a turn called. */
interface WatchedTools extends TurnListener {
  /** Sets the turn's tools. */
  know(tools: readonly Tool[]): void;
  /** Whether a tool was called, possibly by a hook. */
  begun(): boolean;
  /** Whether the model called a tool that may change something outside the engine. */
  acted(): boolean;
}

export function watchTools(): WatchedTools {
  let external: ReadonlySet<string> = new Set();
  let [begun, acted] = [false, false];
  return {
    know(tools) {
      external = new Set(tools.filter(({ effect }) => effect === "external").map(({ name }) => name));
    },
    event(event) {
      if (event.type !== "tool-call" && event.type !== "hook-execution") return;
      begun = true;
      acted ||= event.type === "tool-call" && external.has(event.name);
    },
    begun: () => begun,
    acted: () => acted,
  };
}
