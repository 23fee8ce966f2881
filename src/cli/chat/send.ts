import { AgentEngineError, createChat, StreamCutError } from "../../client/index.ts";
import { type Address, explainAnswer, explainFailure, Refusal } from "./refusal.ts";

export interface Message extends Address {
  key: string | undefined;
  chatId: string;
  text: string;
}

/** The deadline of a request to stop a turn, in milliseconds. */
const stopMs = 3_000;

/**
 * Sends a message over the native stream and yields its events up to `done`, over several connections if one breaks.
 * Calls `onLost` at each break. Throws a `Refusal` when there is no reply, when the reply can't be followed any more
 * and, after the last event, when the turn failed. Throws the signal's reason when the signal aborts.
 */
export async function* sendMessage(
  message: Message,
  signal: AbortSignal,
  onLost: () => void,
): AsyncGenerator<ChatEvent> {
  const { url, slug, key, chatId, text } = message;
  let refused: Response | null = null;
  const call: typeof fetch = async (input, init) => {
    const response = await fetchHere(input, init);
    refused = isStream(response) ? null : response.clone();
    return response;
  };
  const chat = createChat({ baseUrl: url, token: key, fetch: call }, slug);
  const body = { chat_id: chatId, messages: [{ role: "user", content: text }] };
  let failure: Refusal | null = null;
  let begun = false;
  try {
    for await (const { event, id, data } of chat.stream(body, { signal, onLost })) {
      begun = true;
      if (event === "error") failure = new Refusal(data.message);
      yield { event, id: id === "" ? null : id, data };
    }
  } catch (error) {
    signal.throwIfAborted();
    const refusal = await explain(error, refused, message);
    // Without a status, so that the message is not sent again: it is being answered already.
    throw begun ? new Refusal(refusal.message) : refusal;
  }
  if (failure) throw failure;
}

/** Stops a turn. Returns whether the server accepted the request. */
export async function stopTurn({ url, slug, key }: Message, messageId: string): Promise<boolean> {
  const chat = createChat({ baseUrl: url, token: key, fetch: fetchHere }, slug);
  try {
    await chat.stop(messageId, { signal: AbortSignal.timeout(stopMs) });
    return true;
  } catch {
    return false;
  }
}

/** Follows no redirect, since the key is only for this address. */
const fetchHere: typeof fetch = (input, init) => fetch(input, { ...init, redirect: "manual" });

const isStream = ({ ok, headers }: Response) => ok && headers.get("Content-Type")?.startsWith("text/event-stream");

async function explain(error: unknown, refused: Response | null, message: Message): Promise<Refusal> {
  if (error instanceof StreamCutError) return new Refusal(error.message);
  if (error instanceof AgentEngineError && refused) return explainAnswer(refused, message, message.key !== undefined);
  return explainFailure(error, message);
}

/** One event of a turn. */
export interface ChatEvent {
  event: string;
  /** The id with which the stream is resumed; null when the event has none. */
  id: string | null;
  data: Record<string, unknown>;
}
