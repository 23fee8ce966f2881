import { eq } from "drizzle-orm";
import type { Services } from "../../../context/ctx.ts";
import { EngineError } from "../../../core/errors.ts";
import { costOfCalls } from "../../../core/models/prices.ts";
import { patiently } from "../../../db/retry.ts";
import { turns } from "../../../db/schema.ts";
import type { StoredRows } from "../../../turn/observers.ts";
import type { TurnOutcome } from "../../../turn/types.ts";
import { superseded } from "../alongside.ts";
import type { Begun } from "../begin.ts";
import { amountTaken } from "../budget/estimate.ts";
import { pricedCalls, pricingOf } from "../budget/pricing.ts";
import type { DebugNotes } from "../debug/notes.ts";
import { aftermathOf } from "../follow-up/aftermath.ts";
import type { Taken } from "../place/take.ts";
import type { TurnRequest } from "../request.ts";
import { describeCause } from "./cause.ts";
import { type Recording, record } from "./record.ts";

interface Ended {
  turnId: string;
  owner: string;
  request: TurnRequest;
  taken: Taken;
  /** Null when the turn never ran. */
  begun: Begun | null;
  /** Null unless the agent is under debugging. */
  notes: DebugNotes | null;
  outcome: TurnOutcome;
  /** Whether the turn may wait for an unavailable database. */
  mayWait(): boolean;
}

/**
 * How long an ended turn waits for an unavailable database, in milliseconds. The second, shorter time is for callers
 * who get the reply only once it is recorded: they would give up earlier.
 */
const [outageMs, wholeOutageMs] = [120_000, 15_000];

interface Finished {
  /** The recorded outcome: `superseded` when newer messages superseded the turn. */
  outcome: TurnOutcome;
  /** Whether other turns of the conversation are queued. */
  othersWait: boolean;
  /** When the turn's first job is due, in milliseconds since the epoch; null for none. */
  workAt: number | null;
  /** Whether clients can read the reply by the turn's id. */
  replyKept: boolean;
  stored: StoredRows;
}

/** Records a turn and enqueues its background work. Throws when the turn could not be recorded. */
export async function finish(services: Services, ended: Ended): Promise<Finished> {
  const { turnId, owner, request, taken, begun, outcome } = ended;
  const { log, clock } = services;
  const { requestId, input, continued } = request;
  const { agent } = taken.grant;
  const now = clock.now();
  const aftermath = aftermathOf(ended, now);
  try {
    const recording: Recording = {
      turnId,
      owner,
      aftermath,
      outcome,
      origin: request.origin,
      fresh: input.fresh,
      fileIds: input.fileIds ?? [],
      stored: taken.place.conversation !== null,
      whole: request.whole === true,
      measured: continued ? null : measure(begun, outcome),
      charged: amountTaken(outcome, begun?.promptBytes ?? 0, pricingOf(agent, taken.answering.models)),
      costMicros: agent.prices && costOfCalls(pricedCalls(outcome), agent.prices),
      debug: debugOf(services, ended),
      continued: continued?.suspended ?? null,
      model: request.model,
      alongside: request.alongside?.(outcome, turnId) ?? null,
    };
    // The lease stays valid: it is renewed meanwhile, or once the database is back.
    const until = now + (request.whole ? wholeOutageMs : outageMs);
    const mayWait = () => ended.mayWait() && clock.now() < until;
    const recorded = await patiently(clock, () => record(services.database, recording), mayWait);
    if (!recorded) throw new EngineError("unavailable", await whyClosed(services, turnId));
    const { wasSuperseded, ...known } = recorded;
    if (wasSuperseded) return { ...known, outcome: superseded(outcome), workAt: null };
    const left = [...(recording.alongside?.work ?? []).map(({ runAt }) => runAt), aftermath.titleDueAt ?? []].flat();
    const workAt = left.length === 0 ? null : Math.min(...left.map(Number));
    return { ...known, outcome, workAt };
  } catch (err) {
    const failure = outcome.status === "failed" ? { cause: describeCause(outcome.failure.cause, agent.scrub) } : {};
    log.error({ turnId, requestId, err, ...failure }, "A turn could not be recorded");
    throw err;
  }
}

/** Explains why this process no longer held its turn. */
async function whyClosed({ database }: Services, turnId: string): Promise<string> {
  const [turn] = await database.db.select({ status: turns.status }).from(turns).where(eq(turns.id, turnId));
  return turn
    ? "The server was out of touch with its database for so long that the turn was closed: nothing of it is stored"
    : "The agent was deleted while the turn ran: nothing of it is stored";
}

/** Bytes per token, from the provider's count of a prompt of known length. */
function measure(begun: Begun | null, { contextTokens }: TurnOutcome): Recording["measured"] {
  if (!begun || contextTokens === 0) return null;
  // Between 1 and 9 bytes; other counts are wrong. Most text counts twice: as text, and in the provider's message.
  return { contextTokens, bytesPerToken: Math.min(9, Math.max(1, begun.promptBytes / contextTokens)) };
}

/** The debug data. A failure to make it does not keep the turn from being recorded. */
function debugOf({ log }: Services, { turnId, notes, outcome }: Ended): Recording["debug"] {
  try {
    return notes?.of(outcome) ?? null;
  } catch (err) {
    log.error({ turnId, err }, "What was kept for debugging a turn could not be written down");
    return null;
  }
}
