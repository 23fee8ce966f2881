import type { Bytes } from "../excerpt.ts";
import { mediaType, noStream, refused, unreachable } from "./failures.ts";
import type { Fetch } from "./fetch.ts";

interface PostRequest {
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal | undefined;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Null for a response without a body. */
  body: Bytes | null;
}

/** Posts a text and resolves with the beginning of the response. Follows no redirect. */
export type Post = (url: string, posted: PostRequest) => Promise<Answer>;

export function postOver(fetch: Fetch): Post {
  return async (url, { headers, body, signal = null }) => {
    const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
    const { status } = answer;
    return { status, headers: Object.fromEntries(answer.headers), body: answer.body?.getReader() ?? null };
  };
}

/** A `fetch` that uses `post`, for programs that only post texts. A response may take as long as the signal allows. */
export function fetchOver(post: Post): Fetch {
  return async (input, { headers: given, body: text, signal } = {}) => {
    const posted = { headers: Object.fromEntries(new Headers(given)), body: String(text ?? "") };
    const { body, ...answer } = await post(String(input), { ...posted, signal: signal ?? undefined });
    return new Response(body && !withoutBody.has(answer.status) ? toStream(body) : null, answer);
  };
}

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

function toStream(body: Bytes): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await body.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => body.cancel(),
    },
    // Nothing is read ahead.
    { highWaterMark: 0 },
  );
}

const nothing: Bytes = { read: async () => ({ done: true, value: undefined }), cancel: async () => {} };

/**
 * Requests a stream of events. Rejects with an `APICallError` when the provider can't be reached, refuses, or responds
 * with a page, which would be read as an empty stream.
 */
export async function openStream(post: Post, url: string, posted: PostRequest): Promise<Bytes> {
  const { status, headers, body } = await post(url, posted).catch((cause: unknown) => {
    throw posted.signal?.aborted ? cause : unreachable(url, cause);
  });
  if (status < 200 || status > 299) throw await refused({ url, status, body }, headers);
  const type = mediaType(headers["content-type"]);
  if (type === "text/html") throw await noStream(type, { url, status, body });
  return body ?? nothing;
}
