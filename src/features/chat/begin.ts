import type { Services } from "../../context.ts";
import { sameJson } from "../../core/json.ts";
import type { ModelSpec } from "../../core/ports.ts";
import { promptTokens } from "../../core/providers.ts";
import { tokenCount } from "../../turn/step.ts";
import type { Consumption, JsonObject, ModelMessage, TurnInput } from "../../turn/types.ts";
import { imageParts } from "../files/index.ts";
import { memoryLines, recall } from "../memories/index.ts";
import type { Grant } from "./admit.ts";
import type { LiveAgent } from "./agent.ts";
import { asDecided, refuseWaiting } from "./approvals.ts";
import { monthOf, type Reservation, reserve } from "./budget.ts";
import { writeContextAgain } from "./context.ts";
import { embedderFor } from "./embed.ts";
import type { Opened, Opening } from "./open.ts";
import { prepare, replay } from "./prepare.ts";
import { type PromptRoom, type Reading, readConversation, type StoredMessage } from "./reading.ts";
import type { TurnRequest } from "./request.ts";

/** A turn that has its place: who answers it, and with which model. */
export interface Taken {
  grant: Grant;
  place: Extract<Opened, { kind: "head" | "queued" }>;
  spec: ModelSpec;
  room: PromptRoom;
  reservation: Reservation | null;
}

/** A turn that is about to run. */
export interface Begun {
  input: TurnInput;
  /** What its first prompt takes, in bytes. */
  promptBytes: number;
}

/** Tokens that are kept free for an answer whose length nobody limits. */
const usualAnswer = 4_000;

/** How much there is for a conversation's history in a prompt to this model. */
export function promptRoom(
  { row, fixedBytes }: LiveAgent,
  { provider }: ModelSpec,
  { input: { history, fresh }, resumed }: Pick<TurnRequest, "input" | "resumed">,
): PromptRoom {
  const window = Math.max(0, promptTokens[provider] - (row.maxOutputTokens ?? usualAnswer));
  const going = resumed ? [...resumed.suspended.fresh, JSON.stringify(resumed.suspended.messages)] : [];
  return {
    window,
    takenBytes: fixedBytes + bytesOf([...history.flatMap(textsOf), ...fresh, ...going]),
    calls: row.toolResultsInHistoryEnabled,
  };
}

function textsOf({ content }: ModelMessage): string[] {
  if (typeof content === "string") return [content];
  return content.flatMap((part) => (part.type === "text" ? [part.text] : []));
}

/** What to hold of an agent's budget for the first call of a turn; null without a budget. */
export function firstReservation(
  agent: LiveAgent,
  { takenBytes }: PromptRoom,
  { fresh }: Pick<TurnRequest["input"], "fresh">,
  now: number,
): Opening["reservation"] {
  if (agent.row.monthlyTokenBudget === null) return null;
  const answer = answerTokens(agent);
  const addedTokens = cautiousTokens(bytesOf(fresh)) + answer;
  return { month: monthOf(now), tokens: cautiousTokens(takenBytes) + answer, addedTokens };
}

/** What so many bytes are at most, for most texts. */
export const cautiousTokens = (bytes: number) => Math.ceil(bytes / 3);

/** What the provider counted, and what the calls take that it did not count: their first prompt has so many bytes. */
export function tokensTaken({ usage, ...calls }: Consumption, promptBytes: number): number {
  const uncounted = calls.uncountedCalls * firstPrompt(calls, promptBytes) + cautiousTokens(calls.uncountedLength);
  return tokenCount(usage.promptTokens + usage.completionTokens + uncounted);
}

const firstPrompt = ({ contextTokens }: Pick<Consumption, "contextTokens">, promptBytes: number) =>
  contextTokens || cautiousTokens(promptBytes);

/** What an answer may cost, as far as anybody can say before it. */
export const answerTokens = ({ row }: LiveAgent) => Math.min(row.maxOutputTokens ?? 1_000, usualAnswer);

const utf8 = new TextEncoder();
export const bytesOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + utf8.encode(text).byteLength, 0);

/**
 * Reads what a turn needs once its place has come, and puts its input together. `reading` is what OPEN read, or null
 * for a turn that had to wait.
 */
export async function begin(
  services: Services,
  { turnId, request, taken, reading }: { turnId: string; request: TurnRequest; taken: Taken; reading: Reading | null },
): Promise<Begun> {
  const { database, clock, policies } = services;
  const { place, spec, room } = taken;
  const { agent } = taken.grant;
  const resolving = services.models.resolve(spec);
  resolving.catch(() => {});
  const resumed = request.resumed ?? null;
  const now = clock.now();
  const { conversation } = place;
  const found = await readInOrder(services, taken, request, reading);
  const promptBytes = room.takenBytes + found.historyBytes;
  if (conversation && !resumed && (place.kind === "queued" || place.awaiting !== null)) {
    await refuseWaiting(database, conversation.id);
  }
  const input = prepare({
    memories: place.remembered ? await recallFor(services, agent, request) : "",
    turnId,
    conversation,
    conversationRef: request.ref,
    agent,
    policies: policies.values,
    now,
    origin: request.origin,
    model: await resolving,
    history: conversation ? replay(earlier(found.history, request)) : request.input.history,
    fresh: resumed?.suspended.fresh ?? request.input.fresh,
    images: await picturesFor(services, conversation, resumed?.suspended.fileIds ?? request.input.fileIds),
    // Decisions may have changed while it waited for its place.
    resumed: resumed && (await asDecided(database, resumed)),
    state: found.state,
    // Who brings the conversation along says whether it begins.
    begins: conversation ? found.begins : request.input.history.length === 0,
    reserve: reserveFor(services, turnId, taken, promptBytes),
  });
  return { input, promptBytes };
}

/** The conversation as the turn has to find it: with its own call's context, whatever others wrote before its turn came. */
async function readInOrder(
  { database }: Services,
  { place, grant, room }: Taken,
  { context }: TurnRequest,
  reading: Reading | null,
): Promise<Reading> {
  if (reading && isSubset(context ?? {}, reading.state)) return reading;
  if (!place.conversation) return { history: [], historyBytes: 0, state: {}, begins: true };
  if (context) await writeContextAgain(database, place.conversation.id, context);
  return readConversation(database, place.conversation.id, { historyLimit: grant.agent.row.historyLimit, room });
}

const isSubset = (values: JsonObject, state: JsonObject) =>
  Object.entries(values).every(([key, value]) => sameJson(value, state[key]));

/** Before each further call what is held becomes what was taken and what the call is going to take. */
function reserveFor(
  services: Services,
  turnId: string,
  { grant, reservation }: Taken,
  promptBytes: number,
): TurnInput["reserve"] {
  if (!reservation) return null;
  const { agent } = grant;
  const { month } = reservation;
  return (soFar, next) => {
    const prompt = (next.countedTokens || firstPrompt(soFar, promptBytes)) + cautiousTokens(next.length);
    const tokens = tokenCount(tokensTaken(soFar, promptBytes) + prompt + answerTokens(agent));
    return reserve(services, { agentId: agent.row.id, turnId, month, tokens });
  };
}

/** No statement for turns without files, which is almost all of them. */
async function picturesFor(
  services: Services,
  conversation: TurnInput["conversation"],
  fileIds: readonly string[] = [],
) {
  return conversation && fileIds.length > 0 ? imageParts(services, { conversationId: conversation.id, fileIds }) : [];
}

/** One statement more, for those of whom something is remembered. */
async function recallFor(
  services: Services,
  agent: LiveAgent,
  { origin, input, resumed }: TurnRequest,
): Promise<string> {
  const embedder = embedderFor(services, agent);
  const said = resumed?.suspended.fresh ?? input.fresh;
  const asked = { agentId: agent.row.id, subject: origin.subject, text: said.join("\n") };
  return memoryLines(await recall(services.database, { ...asked, meaning: embedder && { ...services, embedder } }));
}

/** The transcript before the turn; a turn that goes on brings its own part along. */
function earlier(stored: readonly StoredMessage[], { resumed }: TurnRequest): StoredMessage[] {
  const own = new Set(resumed?.suspended.turnIds);
  return stored.filter(({ turnId }) => turnId === null || !own.has(turnId));
}
