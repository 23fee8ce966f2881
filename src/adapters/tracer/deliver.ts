import { isObject } from "../../core/json.ts";
import type { Clock } from "../../core/ports.ts";
import { withinTime } from "../../core/time/deadline.ts";
import type { Collector } from "../../core/tracing.ts";
import { readExcerpt } from "../excerpt.ts";
import { codeOf } from "../failed-fetch.ts";
import { retryAfterMs } from "../messengers/http.ts";
import type { Post } from "../models/post.ts";

/** The outcome of sending a batch. The reasons are the engine's own texts, since a response may repeat a key. */
export type Delivery =
  /** `rejected`: how many of its spans the collector refused. */
  | { kind: "taken"; rejected: number; reason: string }
  /** The batch would be refused again. `closed`: so would any other batch, since the key is invalid. */
  | { kind: "refused"; closed: boolean; reason: string }
  /** A smaller batch may be accepted. */
  | { kind: "too-large"; reason: string }
  | { kind: "later"; afterMs: number | null; reason: string };

/** The time limit of a request to a collector, in milliseconds. */
const timeoutMs = 10_000;

const answerLength = 4_096;

const cutOff: Delivery = { kind: "later", afterMs: null, reason: "It had not answered when the process stopped" };

/** Sends one batch, until the signal aborts. Never rejects. */
export async function deliver(
  { clock, post }: { clock: Clock; post: Post },
  { url, headers }: Pick<Collector, "url" | "headers">,
  body: string,
  signal: AbortSignal,
): Promise<Delivery> {
  const tooLate = new Error(`It did not answer within ${timeoutMs / 1_000} s`);
  try {
    return await withinTime(clock, timeoutMs, tooLate, async (deadline) => {
      const answer = await post(url, {
        headers: { ...headers, "Content-Type": "application/json" },
        body,
        signal: AbortSignal.any([signal, deadline]),
      });
      const said = await readExcerpt(answer.body, answerLength);
      return judge(answer.status, said, retryAfterMs(new Headers(answer.headers), clock.now()));
    });
  } catch (error) {
    if (signal.aborted) return cutOff;
    if (error === tooLate) return { kind: "later", afterMs: null, reason: tooLate.message };
    const code = codeOf(error);
    return { kind: "later", afterMs: null, reason: `It cannot be reached${code === null ? "" : ` (${code})`}` };
  }
}

/** The statuses after which the OTLP specification wants another attempt. */
const passing = new Set([429, 502, 503, 504]);

function judge(status: number, said: string, afterMs: number | null): Delivery {
  if (status >= 200 && status < 300) {
    const rejected = rejectedSpans(said);
    return { kind: "taken", rejected, reason: rejected > 0 ? "It did not take all spans" : "" };
  }
  const reason = `It answered ${status}`;
  if (passing.has(status)) return { kind: "later", afterMs, reason };
  if (status === 413) return { kind: "too-large", reason };
  return { kind: "refused", closed: status === 401 || status === 403, reason };
}

/** The number of rejected spans in `partialSuccess`: a number, or its text. */
function rejectedSpans(said: string): number {
  if (!said.includes("rejected")) return 0;
  try {
    const answer: unknown = JSON.parse(said);
    const partial = isObject(answer) && isObject(answer.partialSuccess) ? answer.partialSuccess : {};
    return Math.max(0, Number(partial.rejectedSpans) || 0);
  } catch {
    return 0;
  }
}
