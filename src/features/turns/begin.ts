import type { Services } from "../../context/ctx.ts";
import { sameJson } from "../../core/json.ts";
import type { JsonObject, TurnInput } from "../../turn/types.ts";
import { type FreshFiles, imageParts } from "../files/index.ts";
import { memoryLines, recall } from "../memories/index.ts";
import { embedderFor } from "./agent/embedder.ts";
import { actingAs, type LiveAgent } from "./agent/load.ts";
import { requireUsable } from "./agent/model.ts";
import { openModels } from "./agent/turn-models.ts";
import { asDecided } from "./approvals/decided.ts";
import { refuseWaiting } from "./approvals/waiting.ts";
import { reserve, reserveForUser } from "./budget/budget.ts";
import { nextReservation } from "./budget/estimate.ts";
import { pricingOf } from "./budget/pricing.ts";
import { noTranscript, readConversation, type Transcript } from "./place/history.ts";
import { rewriteContext } from "./place/state.ts";
import type { Taken } from "./place/take.ts";
import { prepare } from "./prepare.ts";
import type { TurnRequest } from "./request.ts";

/** A turn that is about to run. */
export interface Begun {
  input: TurnInput;
  /** The size of the first prompt, in bytes. */
  promptBytes: number;
  /** The memories in the prompt, as lines. */
  memories: string;
  /** Whether the stored conversation has no messages yet. */
  begins: boolean;
}

interface QueuedTurn {
  turnId: string;
  request: TurnRequest;
  taken: Taken;
  /** The conversation as OPEN read it; null for a turn that was queued. */
  transcript: Transcript | null;
  /** The files of its messages; null for none. */
  files: FreshFiles | null;
}

/** Does all I/O that a turn needs once it has its slot; `prepare` builds the turn's input from the results. */
export async function begin(
  services: Services,
  { turnId, request, taken, transcript, files }: QueuedTurn,
): Promise<Begun> {
  const { database, clock, policies } = services;
  const { place, answering, room, grant } = taken;
  const { agent } = grant;
  const { conversation } = place;
  const opening = openModels(services, requireUsable(answering));
  // `opening` is awaited below; until then a rejection must not count as unhandled.
  opening.catch(() => {});
  const now = clock.now();
  const found = await readInOrder(services, taken, request, transcript);
  const promptBytes = room.takenBytes + found.historyBytes;
  const continued = request.continued ?? null;
  if (conversation && !continued && (place.kind === "queued" || place.awaiting !== null)) {
    await refuseWaiting(services, actingAs(agent), conversation);
  }
  const memories = place.remembered ? await recallFor(services, agent, request) : "";
  const input = prepare({
    turnId,
    agent,
    request,
    conversation,
    transcript: found,
    policies: policies.values,
    now,
    memories,
    models: await opening,
    images: files ? await imageParts(services, files) : [],
    // Decisions may have changed while the turn was queued.
    continued: continued && (await asDecided(database, continued)),
    reserve: reserveFor(services, { turnId, taken, subject: request.origin.subject, promptBytes }),
  });
  return { input, promptBytes, memories, begins: found.begins };
}

/**
 * Reads the conversation. Its state gets this request's context, even if later requests have overwritten it meanwhile.
 */
async function readInOrder(
  { database }: Services,
  { place, grant, room }: Taken,
  { callContext }: TurnRequest,
  transcript: Transcript | null,
): Promise<Transcript> {
  if (transcript && isSubset(callContext ?? {}, transcript.state)) return transcript;
  if (!place.conversation) return noTranscript;
  if (callContext) await rewriteContext(database, place.conversation.id, callContext);
  return readConversation(database, place.conversation.id, { historyLimit: grant.agent.row.historyLimit, room });
}

const isSubset = (values: JsonObject, state: JsonObject) =>
  Object.entries(values).every(([key, value]) => sameJson(value, state[key]));

interface Reserving {
  turnId: string;
  taken: Taken;
  subject: string;
  promptBytes: number;
}

/** Before each further model call, reserves what was used so far plus the estimate of that call. */
function reserveFor(services: Services, { turnId, taken, subject, promptBytes }: Reserving): TurnInput["reserve"] {
  const { reservation, answering, grant } = taken;
  if (!reservation) return null;
  const { month, ofAgent, ofUser } = reservation;
  const { agent } = grant;
  const pricing = pricingOf(agent, answering.models);
  return async (soFar, next) => {
    const amount = nextReservation(agent, { soFar, next, promptBytes, pricing });
    const held = { turnId, agentId: agent.row.id, month, ...amount };
    // If the second budget refuses, the turn's end releases the first reservation.
    if (ofUser) await reserveForUser(services, { ...held, subject });
    if (ofAgent) await reserve(services, held);
  };
}

/** The memories of the user as lines. Runs only when memories exist, since it costs a statement. */
async function recallFor(
  services: Services,
  agent: LiveAgent,
  { origin, input, continued }: TurnRequest,
): Promise<string> {
  const embedder = embedderFor(services, agent);
  const said = continued?.suspended.fresh ?? input.fresh;
  const asked = { agentId: agent.row.id, subject: origin.subject, text: said.join("\n") };
  return memoryLines(await recall(services.database, { ...asked, meaning: embedder && { ...services, embedder } }));
}
