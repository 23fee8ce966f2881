import { subjectKey } from "../../../core/channels/subjects.ts";
import { isProviderName, promptTokens } from "../../../core/models/providers.ts";
import { monthOf } from "../../../core/time/calendar.ts";
import type { Consumption, ModelMessage, NextCall } from "../../../turn/types.ts";
import { tokenCount } from "../../../turn/usage.ts";
import type { LiveAgent } from "../agent/load.ts";
import type { TurnRequest } from "../request.ts";
import type { Reservation } from "./budget.ts";

// Estimates the tokens of texts, before a provider counts them.

/** The size of a prompt to a model, and the part of it that is the same in every conversation. */
export interface PromptRoom {
  /** The size of the model's window, in tokens. */
  window: number;
  /** The bytes of the system prompt, the tools, the new messages and a history in the request. */
  takenBytes: number;
  /** Whether the model gets its earlier calls with their results. */
  calls: boolean;
}

/**
 * Tokens to reserve for the first call of a turn: the larger of `tokens` and the tokens of the conversation's last
 * prompt plus `addedTokens`.
 */
export interface FirstReservation extends Reservation {
  addedTokens: number;
  /** Whether the agent has a budget, and whether its end users have; at least one is true. */
  ofAgent: boolean;
  ofUser: boolean;
}

/** Tokens reserved for a reply without a limit. */
const usualAnswer = 4_000;

/** How many tokens and bytes of history fit into a prompt to this model. */
export function promptRoom(
  { row, fixedBytes }: LiveAgent,
  { provider }: { provider: string },
  { input: { history, fresh }, continued }: Pick<TurnRequest, "input" | "continued">,
): PromptRoom {
  const window = Math.max(
    0,
    promptTokens[isProviderName(provider) ? provider : "demo"] - (row.maxOutputTokens ?? usualAnswer),
  );
  const own = continued ? [...continued.suspended.fresh, JSON.stringify(continued.suspended.messages)] : [];
  return {
    window,
    takenBytes: fixedBytes + bytesOf([...history.flatMap(textsOf), ...fresh, ...own]),
    calls: row.toolResultsInHistoryEnabled,
  };
}

function textsOf({ content }: ModelMessage): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** The reservation for the first call of a turn; null without a budget that counts it. */
export function firstReservation(
  agent: LiveAgent,
  { takenBytes }: PromptRoom,
  { input: { fresh }, origin, ref, stored }: Pick<TurnRequest, "input" | "origin" | "ref" | "stored">,
  now: number,
): FirstReservation | null {
  const { monthlyTokenBudget, userMonthlyTokenBudget } = agent.row;
  // An unstored anonymous turn has a subject that never returns: a budget would refuse nothing, yet leave a row.
  const isAlone = !stored && origin.subject === subjectKey("conversation", ref);
  const budgets = { ofAgent: monthlyTokenBudget !== null, ofUser: userMonthlyTokenBudget !== null && !isAlone };
  if (!budgets.ofAgent && !budgets.ofUser) return null;
  const answer = answerTokens(agent);
  const addedTokens = cautiousTokens(bytesOf(fresh)) + answer;
  return { month: monthOf(now), tokens: cautiousTokens(takenBytes) + answer, addedTokens, ...budgets };
}

/** The reservation for a further call: the turn's usage so far, and the call's estimate. */
export function nextReservation(agent: LiveAgent, soFar: Consumption, next: NextCall, promptBytes: number): number {
  const prompt = (next.countedTokens || firstPrompt(soFar, promptBytes)) + cautiousTokens(next.length);
  return tokenCount(tokensTaken(soFar, promptBytes) + prompt + answerTokens(agent));
}

/** The tokens of this many bytes, an upper bound for most texts. */
export const cautiousTokens = (bytes: number) => Math.ceil(bytes / 3);

/** The provider's count, plus an estimate for calls without one; `promptBytes` is the size of their first prompt. */
export function tokensTaken({ usage, ...calls }: Consumption, promptBytes: number): number {
  const uncounted = calls.uncountedCalls * firstPrompt(calls, promptBytes) + cautiousTokens(calls.uncountedLength);
  return tokenCount(usage.promptTokens + usage.completionTokens + uncounted);
}

const firstPrompt = ({ contextTokens }: Pick<Consumption, "contextTokens">, promptBytes: number) =>
  contextTokens || cautiousTokens(promptBytes);

/** The expected tokens of a reply. */
export const answerTokens = ({ row }: LiveAgent) => Math.min(row.maxOutputTokens ?? 1_000, usualAnswer);

const utf8 = new TextEncoder();

/** The bytes of texts in UTF-8. */
export const bytesOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);
