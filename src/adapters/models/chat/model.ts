import type { ModelCall, StreamingModel } from "../../../core/ports.ts";
import { openStream, type Post } from "../post.ts";
import { readParts } from "./parts.ts";
import type { Habit } from "./thoughts.ts";

interface Server {
  /** The address of the API, without a slash at its end. */
  baseUrl: string;
  apiKey: string | undefined;
  post: Post;
  /** The body of a call. */
  request: (call: ModelCall) => object;
}

/** A model of a server that speaks chat completions. */
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
