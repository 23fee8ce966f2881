import type { Context } from "hono";
import { tokenKind } from "../../../core/credentials/tokens.ts";
import { asEngineError } from "../../../core/errors.ts";
import { randomHex } from "../../../core/ids.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { eventStream } from "../../../http/sse.ts";
import { AgentRefusal, bearer, endingError, type StoredReply, type Turn } from "../../turns/index.ts";
import type { Chat } from "../chat.ts";
import { type AdmittedRequest, clientOf, type ReplyStream } from "../request/admit.ts";
import { answerRequest, type Door, type ReplyEncoder } from "../request/answer.ts";
import { webTurn } from "../request/take.ts";
import {
  approvalSentence,
  type ChunkEncoder,
  type ChunkRelay,
  type CompletionHead,
  chunkEncoder,
  completion,
  pendingSentence,
  relayChunks,
} from "./chunks.ts";
import { CompletionRequest } from "./schema.ts";

const door: Door<CompletionRequest> = {
  name: "completions",
  body: CompletionRequest,
  countedBy: "address",
  refusesInStream: false,
  turnOf: webTurn,
  encoderOf: completionEncoder,
  explain: explainToSession,
};

/** `POST /v1/chat/completions`. */
export function completeChat(c: Context<AppEnv>, chat: Chat): Promise<Response> {
  return answerRequest(c, chat, door, { named: null, by: clientOf(c) });
}

/** Points a signed-in user to the playground, since sessions can't chat here. */
function explainToSession(c: Context<AppEnv>, refusal: unknown): unknown {
  const isSession = tokenKind(bearer(c.req.header("Authorization")) ?? "") === "session";
  if (!isSession || !(refusal instanceof AgentRefusal) || refusal.code !== "not-found") return refusal;
  return new AgentRefusal(
    "not-found",
    `${refusal.message}: this door takes the key of an agent whose Web channel is on. A session chats in the playground, POST /api/instances/{slug}/playground/stream`,
  );
}

function completionEncoder({ c, chat, grant, request, stream }: AdmittedRequest<CompletionRequest>): ReplyEncoder {
  const { stream: isStreamed, stream_options: options } = request.body;
  const created = Math.floor(chat.services.clock.now() / 1000);
  const head = { id: `chatcmpl-${randomHex(24)}`, created, agent: grant.agent };
  if (isStreamed !== true) return wholeEncoder(c, head, stream);
  const encode = chunkEncoder(head, options?.include_usage === true);
  const chunks = relayChunks(encode);
  return {
    listener: chunks.listener,
    encode: (turn) => streamReply(stream, encode, chunks, turn),
    repeat: (stored) => repeatStreamed(stream, encode, stored),
  };
}

/** Encodes a reply that is not streamed. */
function wholeEncoder(c: Context<AppEnv>, head: CompletionHead, stream: ReplyStream): ReplyEncoder {
  return {
    whole: true,
    async encode(turn) {
      const outcome = await whileWanted(stream, turn.ended, () => turn.leave());
      stream.seat.leave();
      const error = endingError(outcome);
      if (error) throw error;
      return c.json(completion(head, outcome.text + pendingSentence(outcome), outcome.usage), 200);
    },
    repeat(stored) {
      stream.seat.leave();
      c.header("Idempotent-Replayed", "true");
      return c.json(completion(head, contentOf(stored), stored), 200);
    },
  };
}

/** Awaits `work`. When the client disconnects or loses its access, calls `leave`; rejects when it lost its access. */
async function whileWanted<T>({ signal, seat }: ReplyStream, work: Promise<T>, leave: () => void): Promise<T> {
  const revoked = Promise.withResolvers<never>();
  seat.onRevoked((refusal) => {
    leave();
    revoked.reject(refusal);
  });
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return Promise.race([work, revoked.promise]).finally(() => signal.removeEventListener("abort", leave));
}

function contentOf({ content, metadata, pending }: StoredReply): string {
  return content + approvalSentence(content, metadata.approval ? pending : []);
}

/** Streams the stored reply of an earlier request as one delta. */
function repeatStreamed(stream: ReplyStream, encode: ChunkEncoder, stored: StoredReply): Response {
  const content = contentOf(stored);
  const headers = { ...stream.headers, "Idempotent-Replayed": "true" };
  const { response, sink } = eventStream({ ...stream, headers });
  sink.write(encode.first + (content === "" ? "" : encode.text(content)) + encode.end(stored));
  sink.close();
  return response;
}

/**
 * Responds after the first output, so that an earlier failure gets its real status. A later error is a `data:` line
 * without a finish reason, for which the official clients raise an error.
 */
async function streamReply(
  stream: ReplyStream,
  encode: ChunkEncoder,
  chunks: ChunkRelay,
  turn: Turn,
): Promise<Response> {
  const leave = () => {
    chunks.mute();
    turn.leave();
  };
  const early = await whileWanted(stream, Promise.race([turn.ended, chunks.begun]), leave);
  const refusal = early && endingError(early);
  if (refusal) throw refusal;

  const { response, sink } = eventStream({ ...stream, onLeave: leave });
  chunks.open(sink.write);
  stream.seat.onRevoked((revoked) => {
    chunks.write(encode.error(revoked));
    sink.close();
    leave();
  });
  turn.ended
    .then((outcome) => chunks.write(encode.last(outcome)))
    .catch((error: unknown) => chunks.write(encode.error(asEngineError(error))))
    .finally(sink.close);
  return response;
}
