import type { Context } from "hono";
import type { AppEnv } from "../../../http/environment.ts";
import type { Chat } from "../chat.ts";
import { followReplay, repeatedStream } from "../replay/stream.ts";
import { type AdmittedRequest, clientOf } from "../request/admit.ts";
import { answerRequest, type Door, type ReplyEncoder } from "../request/answer.ts";
import { webTurn } from "../request/take.ts";
import { ChatRequest } from "./schema.ts";

const door: Door = {
  name: "native",
  body: ChatRequest,
  countedBy: "caller",
  refusesInStream: true,
  turnOf: webTurn,
  encoderOf: nativeEncoder,
};

/** The same door under the playground's address (managed M14). */
const alias: Door = { ...door, feature: "administration" };

/**
 * `POST /api/instances/{slug}/chat/stream`: the turn as typed events. The stream opens once the turn has its ticket; a
 * failure after that is an `error` event, then `done` (spec "Errors", rules 1 and 2).
 */
export function streamChat(c: Context<AppEnv>, slug: string, chat: Chat): Promise<Response> {
  return answerRequest(c, chat, door, { named: slug, by: clientOf(c) });
}

/** `POST /api/instances/{slug}/playground/chat/stream`: the same. */
export function streamChatAlias(c: Context<AppEnv>, slug: string, chat: Chat): Promise<Response> {
  return answerRequest(c, chat, alias, { named: slug, by: clientOf(c) });
}

/** Encodes a reply as typed events, from the turn's replay. */
export function nativeEncoder({ chat: { replays }, stream, turn: { ref } }: AdmittedRequest): ReplyEncoder {
  return {
    encode({ id }) {
      const replay = replays.get(id);
      if (!replay) throw new Error("The events of a turn are not replayed");
      return followReplay(replay, 0, stream, stream.seat);
    },
    repeat: (stored) => repeatedStream(stream, ref, stored),
  };
}
