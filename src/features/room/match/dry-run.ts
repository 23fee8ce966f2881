import { eq } from "drizzle-orm";
import type { Ctx } from "../../../context/ctx.ts";
import { randomHex } from "../../../core/ids.ts";
import type { JsonValue } from "../../../core/json.ts";
import { rooms } from "../../../db/schema.ts";
import { Postponed } from "../../../jobs/postponed.ts";
import { findAgent } from "../../agents/index.ts";
import { mostPending } from "../backlog/add.ts";
import { eventPrompt } from "../events/templates.ts";
import { definitionsOf, type EventDefinition } from "../sources/find.ts";
import { findSource } from "../sources/rows.ts";
import { inactive, whyNot } from "./conclude.ts";
import { endOfAsking, type Judge, outcomeOf } from "./judge.ts";
import type { DryRun, Verdict } from "./schema.ts";

/** Matches a payload against a source's definitions. Calls models; stores nothing. */
export type TryOut = (ctx: Ctx, slug: string, sourceId: string, tried: DryRunRequest) => Promise<DryRun>;

interface DryRunRequest {
  payload: JsonValue;
  /** The caller's signal. */
  signal: AbortSignal;
}

type DryRunResult = Pick<DryRun, "outcome"> & Partial<DryRun>;

/** `TryOut` throws the 404 of agent and source, and the 503 of an overload. */
export function createTryOut({ clock }: Pick<Ctx, "clock">, judge: Judge): TryOut {
  return async (ctx, slug, sourceId, { payload, signal }) => {
    const agent = await findAgent(ctx, slug);
    const source = await findSource(ctx.db, agent, sourceId);
    const [room] = await ctx.db.select().from(rooms).where(eq(rooms.agentId, agent.id));
    const verdicts: Verdict[] = [];
    const answer = ({ outcome, definition = null, prompt = null, reason = null }: DryRunResult): DryRun => ({
      outcome,
      definition,
      verdicts,
      prompt,
      reason,
    });
    if (!agent.active) return answer({ outcome: "room-off", reason: inactive });
    const definitions = await definitionsOf(ctx.db, source.id);
    const event = { payload, receivedAt: clock.now(), roomOn: room?.enabled ?? false };
    const judging = { ...event, agent, definitions, verdicts, warn: () => {} };
    try {
      const judged = await judge(judging, { signal });
      if (judged.kind === "end") return answer(endOf(judged.outcome));
      return answer({ ...actionOf(judged.definition, room), ...shown(judged.definition, payload) });
    } catch (error) {
      return answer(failureOf(error));
    }
  };
}

function endOf(outcome: "no-match" | "room-off"): DryRunResult {
  return outcome === "room-off" ? { outcome, reason: whyNot[outcome] } : { outcome };
}

type Room = Pick<typeof rooms.$inferSelect, "enabled" | "pendingCount"> | undefined;

/** The outcome of a match. */
function actionOf({ action }: EventDefinition, room: Room): DryRunResult {
  if (action === "conversation") return { outcome: action };
  if (!room?.enabled) return { outcome: "room-off", reason: whyNot["room-off"] };
  const full = room.pendingCount >= mostPending;
  return full ? { outcome: "backlog-full", reason: whyNot["backlog-full"] } : { outcome: action };
}

function shown(definition: EventDefinition, payload: JsonValue): Pick<DryRun, "definition" | "prompt"> {
  const { id, name, action, contextPrompt, interpretationPrompt } = definition;
  const template = action === "conversation" ? contextPrompt : interpretationPrompt;
  return { definition: { id, name, action }, prompt: eventPrompt(template, payload, randomHex(24)) };
}

/** Rethrows errors that concern neither the agent nor its model. */
function failureOf(error: unknown): DryRunResult {
  if (error instanceof Postponed) return { outcome: "matcher-failed", reason: error.message };
  const end = endOfAsking(error, { tried: 1, most: 1 });
  if (end?.kind !== "give-up") throw error;
  return { outcome: outcomeOf(end), reason: end.reason };
}
