import { subjectKey } from "../../../core/channels/subjects.ts";
import { promptTokens } from "../../../core/models/providers.ts";
import type { ModelSpec } from "../../../core/ports.ts";
import { monthOf } from "../../../core/time/calendar.ts";
import { tokenCount } from "../../../turn/step.ts";
import type { Consumption, ModelMessage, NextCall } from "../../../turn/types.ts";
import type { LiveAgent } from "../agent/load.ts";
import type { TurnRequest } from "../request.ts";
import type { Reservation } from "./budget.ts";

// How many tokens texts are, before a provider counts them.

/** The size that a prompt may have, and the part of it that every conversation takes. */
export interface PromptRoom {
  /** Tokens. */
  window: number;
  /** The system prompt, the tools, the new messages and a history that comes with them, in bytes. */
  takenBytes: number;
  /** Whether the model sees its earlier calls and their results. */
  calls: boolean;
}

/**
 * Tokens to hold for the first call of a turn: `tokens` at least, or as many as the conversation's last prompt took and
 * `addedTokens` together, when that is more.
 */
export interface FirstReservation extends Reservation {
  addedTokens: number;
  /** Whether the agent has a budget, and whether its end users have one each; one of them at least. */
  ofAgent: boolean;
  ofUser: boolean;
}

/** Tokens that are kept free for an answer without a limit. */
const usualAnswer = 4_000;

/** How much there is for a conversation's history in a prompt to this model. */
export function promptRoom(
  { row, fixedBytes }: LiveAgent,
  { provider }: Pick<ModelSpec, "provider">,
  { input: { history, fresh }, continued }: Pick<TurnRequest, "input" | "continued">,
): PromptRoom {
  const window = Math.max(0, promptTokens[provider] - (row.maxOutputTokens ?? usualAnswer));
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

/** The tokens to hold for the first call of a turn; null without a budget that counts it. */
export function firstReservation(
  agent: LiveAgent,
  { takenBytes }: PromptRoom,
  { input: { fresh }, origin, ref, stored }: Pick<TurnRequest, "input" | "origin" | "ref" | "stored">,
  now: number,
): FirstReservation | null {
  const { monthlyTokenBudget, userMonthlyTokenBudget } = agent.row;
  // The subject of an unstored anonymous turn never returns: a budget would refuse nothing and leave a row for each turn.
  const isAlone = !stored && origin.subject === subjectKey("conversation", ref);
  const budgets = { ofAgent: monthlyTokenBudget !== null, ofUser: userMonthlyTokenBudget !== null && !isAlone };
  if (!budgets.ofAgent && !budgets.ofUser) return null;
  const answer = answerTokens(agent);
  const addedTokens = cautiousTokens(bytesOf(fresh)) + answer;
  return { month: monthOf(now), tokens: cautiousTokens(takenBytes) + answer, addedTokens, ...budgets };
}

/** The tokens to hold for a further call: those that the turn took so far, and those that the call will take. */
export function nextReservation(agent: LiveAgent, soFar: Consumption, next: NextCall, promptBytes: number): number {
  const prompt = (next.countedTokens || firstPrompt(soFar, promptBytes)) + cautiousTokens(next.length);
  return tokenCount(tokensTaken(soFar, promptBytes) + prompt + answerTokens(agent));
}

/** The most tokens that so many bytes are, for most texts. */
export const cautiousTokens = (bytes: number) => Math.ceil(bytes / 3);

/** The provider's count, and an estimate of the calls that it did not count; `promptBytes` is their first prompt. */
export function tokensTaken({ usage, ...calls }: Consumption, promptBytes: number): number {
  const uncounted = calls.uncountedCalls * firstPrompt(calls, promptBytes) + cautiousTokens(calls.uncountedLength);
  return tokenCount(usage.promptTokens + usage.completionTokens + uncounted);
}

const firstPrompt = ({ contextTokens }: Pick<Consumption, "contextTokens">, promptBytes: number) =>
  contextTokens || cautiousTokens(promptBytes);

/** The expected tokens of an answer. */
export const answerTokens = ({ row }: LiveAgent) => Math.min(row.maxOutputTokens ?? 1_000, usualAnswer);

const utf8 = new TextEncoder();

/** The length of texts in UTF-8. */
export const bytesOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);
