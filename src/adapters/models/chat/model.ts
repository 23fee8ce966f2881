import type { ModelCall, StreamingModel } from "../../../core/ports.ts";
import { openStream, type Post } from "../post.ts";
import { readParts } from "./parts.ts";
import type { Habit } from "./thoughts.ts";

interface Server {
  /** The API's address, without a trailing slash. */
  baseUrl: string;
  apiKey: string | undefined;
  post: Post;
  /** Makes the body of a request. */
  request: (call: ModelCall) => object;
}

/** A model of a server with the chat-completions API. */
export function chatModel({ baseUrl, apiKey, post, request }: Server): StreamingModel {
  const url = `${baseUrl}/chat/completions`;
  const headers = {
    "Content-Type": "application/json",
    "User-Agent": "agent-engine",
    ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
  };
  const habit: Habit = { unopened: false };
  return {
    async doStream(call) {
      const { abortSignal: signal } = call;
      const body = await openStream(post, url, { headers, body: JSON.stringify(request(call)), signal });
      const reader = readParts(body, { url, signal, habit });
      return { stream: { getReader: () => reader } };
    },
  };
}
