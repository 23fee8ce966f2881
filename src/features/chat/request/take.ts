import { subjectKey } from "../../../core/channels/subjects.ts";
import { newId } from "../../../core/ids.ts";
import type { TurnListener } from "../../../turn/observers.ts";
import type { Arrival, CountedCall, Idempotency, StoredReply, Turn, TurnRequest } from "../../turns/index.ts";
import { type AdmittedRequest, type ChatTurn, shareOf } from "./admit.ts";
import type { DoorGrant } from "./agent-key.ts";
import type { ParsedRequest } from "./read.ts";
import type { RequestThrottle } from "./throttle.ts";

/** The turn of a request to the agent's Web channel. */
export function webTurn(grant: DoorGrant, { input }: ParsedRequest): ChatTurn {
  const { chatId, user } = input;
  const channelId = chatId === null ? newId() : `api-${chatId}`;
  const ref = `${grant.agent.row.slug}:web:${channelId}`;
  // Callers may put any name into `user`. So its memories need the agent's key, even where the request needs none.
  const subject = grant.holdsKey && user !== null ? subjectKey("web", user) : subjectKey("conversation", ref);
  return { ref, origin: { channel: "web", channelId, source: "user", depth: 0, subject } };
}

/** Reads the events of a turn: as a listener from the first one, or all of them once the reply is recorded. */
export interface ReplyReader {
  listener?: TurnListener;
  whole?: true;
}

/**
 * Takes the turn of a request once the earlier requests of its conversation took their turns, or finds the reply of an
 * earlier request with the same `Idempotency-Key`. Throws the 429s, the 422 and 409 of a key in use, and `AgentChanged`.
 */
export function takeTurn(
  door: string,
  admitted: AdmittedRequest,
  { throttle, arrival, reader }: { throttle: RequestThrottle; arrival: Arrival; reader: ReplyReader },
): Promise<{ repeat: StoredReply } | { repeat: null; turn: Turn }> {
  const { c, chat, grant, turn, callContext } = admitted;
  const { idempotency, input } = admitted.request;
  const { chatId, history, fresh } = input;
  return arrival.inOrder(turn.ref, shareOf(c, grant.agent), async () => {
    const repeat = idempotency && (await findRepeat(admitted, idempotency));
    // Counted first: a request that the throttle refuses must neither repeat a reply nor write its context.
    if (repeat || callContext) await throttle.count();
    if (repeat) return { repeat };
    const take = (counted: CountedCall | null) => {
      const request: TurnRequest = {
        ...turn,
        door,
        stored: chatId !== null,
        input: { history, fresh },
        callContext,
        rule: "cancel-if-silent",
        whole: reader.whole === true,
        requestId: c.get("requestId"),
        throttle: counted,
        idempotency,
      };
      return chat.turns.takeTurn(grant, request, reader.listener);
    };
    return { repeat: null, turn: await throttle.handOver(take) };
  });
}

/** Null for a first request. */
async function findRepeat(
  { chat: { turns }, grant: { agent }, turn: { ref } }: AdmittedRequest,
  idempotency: Idempotency,
): Promise<StoredReply | null> {
  const found = turns.findRepeat({ agentId: agent.row.id, ref }, idempotency);
  const isFirst = await found.then(
    (reply) => reply === null,
    () => false,
  );
  // A first request goes on to OPEN, which itself checks that the agent is unchanged.
  if (!isFirst) await turns.agents.confirm(agent);
  return found;
}
