import { type ChatEvent, readEvents } from "./events.ts";
import { type Address, explainAnswer, explainFailure, Refusal } from "./refusal.ts";

export interface Message extends Address {
  key: string | undefined;
  chatId: string;
  text: string;
}

/**
 * Sends one message over the native stream and yields its events up to `done`. Throws a `Refusal` when there is no
 * reply, when it breaks off and, after the last event, when it failed; and the signal's reason when it was aborted.
 */
export async function* sendMessage(message: Message, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const body = await openStream(message, signal);
  let failure: Refusal | null = null;
  try {
    for await (const event of readEvents(body)) {
      if (event.event === "error") failure = new Refusal(String(event.data.message));
      yield event;
      if (event.event !== "done") continue;
      if (failure) throw failure;
      return;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Refusal) throw error;
  }
  throw failure ?? new Refusal("The connection ended before the reply was complete");
}

async function openStream(message: Message, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { url, slug, key, chatId, text } = message;
  let response: Response;
  try {
    response = await fetch(`${url}/api/instances/${slug}/chat/stream`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "text/event-stream",
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ chat_id: chatId, messages: [{ role: "user", content: text }] }),
      // The key is for this address only.
      redirect: "manual",
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw explainFailure(error, message);
  }
  const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream");
  if (response.status !== 200 || !isStream || !response.body) {
    throw await explainAnswer(response, message, key !== undefined);
  }
  return response.body;
}
