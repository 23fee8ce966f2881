import { subjectKey } from "../../../core/channels/subjects.ts";
import { type HighestPrice, roundMicros, sumCosts } from "../../../core/models/prices.ts";
import { isProviderName, promptTokens } from "../../../core/models/providers.ts";
import { monthOf } from "../../../core/time/calendar.ts";
import type { Consumption, ModelMessage, NextCall } from "../../../turn/types.ts";
import { tokenCount } from "../../../turn/usage.ts";
import type { LiveAgent } from "../agent/load.ts";
import type { TurnRequest } from "../request.ts";
import type { Amount, Reservation } from "./budget.ts";
import { cautiousCost, hasBudget, type Pricing, pricedCalls } from "./pricing.ts";

// Estimates the tokens of texts, before a provider counts them, and their cost.

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
 * prompt plus `addedTokens`. `answerTokens` of them are for the reply.
 */
export interface FirstReservation extends Pick<Reservation, "month" | "tokens"> {
  addedTokens: number;
  answerTokens: number;
  /** The highest prices of the models that may answer. */
  price: HighestPrice;
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

interface FirstCall {
  room: PromptRoom;
  request: Pick<TurnRequest, "input" | "origin" | "ref" | "stored">;
  price: HighestPrice;
}

/** The reservation for the first call of a turn; null without a budget that counts it. */
export function firstReservation(agent: LiveAgent, first: FirstCall, now: number): FirstReservation | null {
  const { room, request, price } = first;
  const { input, origin, ref, stored } = request;
  // An unstored anonymous turn has a subject that never returns: a budget would refuse nothing, yet leave a row.
  const isAlone = !stored && origin.subject === subjectKey("conversation", ref);
  const budgets = { ofAgent: hasBudget(agent), ofUser: hasUserBudget(agent) && !isAlone };
  if (!budgets.ofAgent && !budgets.ofUser) return null;
  const answer = answerTokens(agent);
  const tokens = cautiousTokens(room.takenBytes) + answer;
  const addedTokens = cautiousTokens(bytesOf(input.fresh)) + answer;
  return { month: monthOf(now), tokens, addedTokens, answerTokens: answer, price, ...budgets };
}

const hasUserBudget = ({ row }: LiveAgent) => row.userMonthlyTokenBudget !== null || row.userMonthlyCostBudget !== null;

/** The reservation for a further call: the turn's usage so far, and the call's estimate. */
export function nextReservation(
  agent: LiveAgent,
  { soFar, next, promptBytes, pricing }: { soFar: Consumption; next: NextCall; promptBytes: number; pricing: Pricing },
): Amount {
  const prompt = (next.countedTokens || firstPrompt(soFar, promptBytes)) + cautiousTokens(next.length);
  const answer = answerTokens(agent);
  const taken = amountTaken(soFar, promptBytes, pricing);
  return {
    tokens: tokenCount(taken.tokens + prompt + answer),
    cost: taken.cost + cautiousCost(prompt, answer, pricing.price),
  };
}

/** The tokens of this many bytes, an upper bound for most texts. */
export const cautiousTokens = (bytes: number) => Math.ceil(bytes / 3);

/**
 * The provider's count, plus an estimate for calls without one; `promptBytes` is the size of their first prompt. A model
 * without a price costs nothing.
 */
export function amountTaken({ usage, ...calls }: Consumption, promptBytes: number, { prices, price }: Pricing): Amount {
  const prompts = tokenCount(calls.uncountedCalls * firstPrompt(calls, promptBytes));
  const others = cautiousTokens(calls.uncountedLength);
  const counted = prices ? sumCosts(pricedCalls(calls), prices).cost : 0n;
  return {
    tokens: tokenCount(usage.promptTokens + usage.completionTokens + prompts + others),
    cost: roundMicros(counted) + cautiousCost(prompts, others, price),
  };
}

const firstPrompt = ({ contextTokens }: Pick<Consumption, "contextTokens">, promptBytes: number) =>
  contextTokens || cautiousTokens(promptBytes);

/** The expected tokens of a reply. */
export const answerTokens = ({ row }: LiveAgent) => Math.min(row.maxOutputTokens ?? 1_000, usualAnswer);

const utf8 = new TextEncoder();

/** The bytes of texts in UTF-8. */
export const bytesOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);
