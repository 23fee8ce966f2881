import type { Bytes } from "../excerpt.ts";
import { mediaType, noStream, refused, unreachable } from "./failures.ts";
import type { Fetch } from "./fetch.ts";

interface Posted {
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal | undefined;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Null: there is none. */
  body: Bytes | null;
}

/** Sends a text by POST and resolves with the beginning of the answer. It follows no redirect. */
export type Post = (url: string, posted: Posted) => Promise<Answer>;

export function postOver(fetch: Fetch): Post {
  return async (url, { headers, body, signal = null }) => {
    const answer = await fetch(url, { method: "POST", headers, body, signal, redirect: "manual" });
    const { status } = answer;
    return { status, headers: Object.fromEntries(answer.headers), body: answer.body?.getReader() ?? null };
  };
}

const nothing: Bytes = { read: async () => ({ done: true, value: undefined }), cancel: async () => {} };

/**
 * Asks a provider for a stream of events. Rejects with an `APICallError` when it cannot be reached, when it refuses, and
 * when it answers with a page, which would read as an empty stream.
 */
export async function openStream(post: Post, url: string, posted: Posted): Promise<Bytes> {
  const { status, headers, body } = await post(url, posted).catch((cause: unknown) => {
    throw posted.signal?.aborted ? cause : unreachable(url, cause);
  });
  if (status < 200 || status > 299) throw await refused({ url, status, body }, headers);
  const type = mediaType(headers["content-type"]);
  if (type === "text/html") throw await noStream(type, { url, status, body });
  return body ?? nothing;
}
