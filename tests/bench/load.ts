import { type Dispatcher, Pool } from "undici";
import type { Question, Target } from "./doors.ts";
import { type ReplyShape, replyShapes } from "./shapes.ts";

export interface TurnOptions {
  /** True unless given. */
  streamed?: boolean;
  /** Absent: a new conversation. */
  chatId?: string;
  onFirst?: () => void;
  /** Called with the number of tokens so far. */
  onTokens?: (count: number) => void;
}

const pools = new Map<string, Pool>();
let calls = 0;

function poolOf(url: string): Pool {
  const pool = pools.get(url) ?? new Pool(url, { connections: 256, bodyTimeout: 60_000, headersTimeout: 60_000 });
  pools.set(url, pool);
  return pool;
}

/** One turn; rejects unless the whole reply arrives. Answers the milliseconds to the first token. */
export function turn({ url, door }: Target, shape: ReplyShape, options: TurnOptions = {}): Promise<number> {
  calls += 1;
  const { streamed = true, chatId = `bench-${process.pid}-${calls}` } = options;
  const question: Question = { shape, chatId, streamed };
  const headers = {
    "Content-Type": "application/json",
    // The throttle counts by address and has no off switch.
    "X-Forwarded-For": `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`,
    ...door.headers?.(question),
  };
  const body = JSON.stringify(door.body(question));
  return new Promise((resolve, reject) => {
    const { mark, ending } = streamed ? door : whole;
    const reader = new Reader({ ...options, mark, ending, wanted: replyShapes[shape].tokens }, resolve, reject);
    poolOf(url).dispatch({ method: "POST", path: door.path(question), headers, body }, reader);
  });
}

/** The text in a reply that is not streamed. Some replies repeat it. */
const whole = { mark: "token ", ending: "" };

interface Expected extends TurnOptions {
  mark: string;
  ending: string;
  wanted: number;
}

/** Keeps only the end of a reply: some are long, and many are read at once. */
class Reader implements Dispatcher.DispatchHandler {
  readonly #startedAt = performance.now();
  readonly #expected: Expected;
  readonly #resolve: (firstMs: number) => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  #firstMs: number | null = null;
  #tokens = 0;
  #tail = "";

  constructor(expected: Expected, resolve: (firstMs: number) => void, reject: (error: Error) => void) {
    this.#expected = expected;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_: Dispatcher.DispatchController, piece: Buffer): void {
    const { mark, onFirst, onTokens } = this.#expected;
    const text = this.#tail + piece.toString("latin1");
    let count = 0;
    // A mark may be divided between two pieces.
    const start = Math.max(0, this.#tail.length - mark.length + 1);
    for (let at = text.indexOf(mark, start); at >= 0; at = text.indexOf(mark, at + mark.length)) count += 1;
    this.#tail = text.slice(-500);
    if (count === 0) return;
    this.#tokens += count;
    onTokens?.(count);
    if (this.#firstMs === null) {
      this.#firstMs = performance.now() - this.#startedAt;
      onFirst?.();
    }
  }

  onResponseEnd(): void {
    const { ending, wanted } = this.#expected;
    const whole =
      this.#status === 200 &&
      (this.#tokens === wanted || (!ending && this.#tokens > wanted)) &&
      this.#tail.includes(ending);
    if (whole && this.#firstMs !== null) this.#resolve(this.#firstMs);
    else this.#reject(new Error(`Status ${this.#status}, ${this.#tokens} tokens: ${this.#tail}`));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

export interface Load {
  turns: number;
  concurrency: number;
  /** True unless given. */
  streamed?: boolean;
  spreadMs?: number;
  /** By the number of the turn, from 0 on; absent: each has a conversation of its own. */
  chatId?: (index: number) => string;
  onTokens?: (count: number) => void;
}

/** This many turns, this many at a time, begun evenly over `spreadMs`. Answers the milliseconds to each first token. */
export async function load(
  target: Target,
  shape: ReplyShape,
  { turns, concurrency, spreadMs = 0, chatId, ...options }: Load,
): Promise<number[]> {
  let begun = 0;
  const first: number[] = [];
  const work = async (_: unknown, index: number) => {
    if (spreadMs > 0) await new Promise((resolve) => setTimeout(resolve, (spreadMs * index) / concurrency));
    while (begun < turns) {
      const named = chatId ? { chatId: chatId(begun) } : {};
      begun += 1;
      first.push(await turn(target, shape, { ...options, ...named }));
    }
  };
  await Promise.all(Array.from({ length: concurrency }).map(work));
  return first;
}
