import type { Services } from "../../context.ts";
import { sameJson } from "../../core/json.ts";
import type { JsonObject, TurnInput } from "../../turn/types.ts";
import { imageParts } from "../files/index.ts";
import { memoryLines, recall } from "../memories/index.ts";
import { embedderFor } from "./agent/embedder.ts";
import type { LiveAgent } from "./agent/load.ts";
import { asDecided, refuseWaiting } from "./approvals/waiting.ts";
import { reserve } from "./budget/budget.ts";
import { nextReservation } from "./budget/estimate.ts";
import { readConversation, type Transcript } from "./place/history.ts";
import { rewriteContext } from "./place/state.ts";
import type { Taken } from "./place/take.ts";
import { prepare } from "./prepare.ts";
import type { TurnRequest } from "./request.ts";

/** A turn that is about to run. */
export interface Begun {
  input: TurnInput;
  /** What its first prompt takes, in bytes. */
  promptBytes: number;
}

interface Waiting {
  turnId: string;
  request: TurnRequest;
  taken: Taken;
  /** What OPEN read; null for a turn that had to wait. */
  transcript: Transcript | null;
}

/** Gathers what a turn needs once its place has come: everything that takes I/O. `prepare` makes its input of that. */
export async function begin(services: Services, { turnId, request, taken, transcript }: Waiting): Promise<Begun> {
  const { database, clock, policies, models } = services;
  const { place, spec, room, grant } = taken;
  const { agent } = grant;
  const { conversation } = place;
  const resolving = models.resolve(spec);
  // Looked at below; until then a rejection must not count as unhandled.
  resolving.catch(() => {});
  const now = clock.now();
  const found = await readInOrder(services, taken, request, transcript);
  const promptBytes = room.takenBytes + found.historyBytes;
  const continued = request.continued ?? null;
  if (conversation && !continued && (place.kind === "queued" || place.awaiting !== null)) {
    await refuseWaiting(database, conversation.id);
  }
  const input = prepare({
    turnId,
    agent,
    request,
    conversation,
    transcript: found,
    policies: policies.values,
    now,
    memories: place.remembered ? await recallFor(services, agent, request) : "",
    model: await resolving,
    images: await picturesFor(services, conversation, request),
    // Decisions may have changed while the turn waited for its place.
    continued: continued && (await asDecided(database, continued)),
    reserve: reserveFor(services, turnId, taken, promptBytes),
  });
  return { input, promptBytes };
}

/** The conversation as the turn has to find it: with its own call's context, whatever others wrote before its turn came. */
async function readInOrder(
  { database }: Services,
  { place, grant, room }: Taken,
  { callContext }: TurnRequest,
  transcript: Transcript | null,
): Promise<Transcript> {
  if (transcript && isSubset(callContext ?? {}, transcript.state)) return transcript;
  if (!place.conversation) return { history: [], historyBytes: 0, state: {}, begins: true };
  if (callContext) await rewriteContext(database, place.conversation.id, callContext);
  return readConversation(database, place.conversation.id, { historyLimit: grant.agent.row.historyLimit, room });
}

const isSubset = (values: JsonObject, state: JsonObject) =>
  Object.entries(values).every(([key, value]) => sameJson(value, state[key]));

/** Before each further call what is held becomes what was taken and what the call is going to take. */
function reserveFor(
  services: Services,
  turnId: string,
  { grant: { agent }, reservation }: Taken,
  promptBytes: number,
): TurnInput["reserve"] {
  if (!reservation) return null;
  const { month } = reservation;
  return (soFar, next) => {
    const tokens = nextReservation(agent, soFar, next, promptBytes);
    return reserve(services, { agentId: agent.row.id, turnId, month, tokens });
  };
}

/** No statement for turns without files, which is almost all of them. */
async function picturesFor(
  services: Services,
  conversation: TurnInput["conversation"],
  { input, continued }: TurnRequest,
) {
  const fileIds = continued?.suspended.fileIds ?? input.fileIds ?? [];
  return conversation && fileIds.length > 0 ? imageParts(services, { conversationId: conversation.id, fileIds }) : [];
}

/** One statement more, for users of whom something is remembered. */
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
