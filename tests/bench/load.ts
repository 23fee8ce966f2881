import { Agent, type IncomingMessage, request } from "node:http";
import { type ReplyShape, replyShapes } from "./shapes.ts";

export interface Target {
  url: string;

  key(shape: ReplyShape): string;
}

export type Door = "completions" | "native";

export interface TurnOptions {
  door?: Door;
  /** Absent: a conversation of its own. */
  chatId?: string;
  onFirst?: () => void;
  /** The reply has begun; nothing of it may have been read. */
  onOpen?: () => void;
  /** Every token was read, though the reply may go on. */
  onAll?: () => void;
  /** Nothing is read before, but what the sockets take in by themselves. */
  readAfter?: Promise<unknown>;
}

const connections = new Agent({ keepAlive: true, maxSockets: 256 });
let calls = 0;

/** One streamed turn; rejects unless the whole reply came. Answers the milliseconds to the first token. */
export function turn({ url, key }: Target, shape: ReplyShape, options: TurnOptions = {}): Promise<number> {
  calls += 1;
  const { door = "completions", chatId = `bench-${process.pid}-${calls}`, onOpen, readAfter } = options;
  const path = door === "native" ? `/api/instances/${shape}/chat/stream` : "/v1/chat/completions";
  const body = JSON.stringify({
    ...(door === "native" ? {} : { model: shape, stream: true }),
    chat_id: chatId,
    messages: [{ role: "user", content: "What is the capital of Switzerland, and why?" }],
  });
  const headers = {
    Authorization: `Bearer ${key(shape)}`,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    // The throttle counts by address and has no off switch.
    "X-Forwarded-For": `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`,
  };
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const sending = request(url + path, { method: "POST", agent: connections, headers }, (response) => {
      response.once("error", reject);
      onOpen?.();
      const read = () => readReply(response, { shape, startedAt, ...options }).then(resolve, reject);
      if (readAfter) readAfter.then(read, reject);
      else read();
    });
    sending.once("error", reject);
    sending.end(body);
  });
}

const endings: Record<Door, string> = { completions: "[DONE]", native: "event: done" };

interface Expected extends TurnOptions {
  shape: ReplyShape;
  startedAt: number;
}

/** Only the end of it is kept: some replies are long, and many are read at once. */
function readReply(response: IncomingMessage, expected: Expected): Promise<number> {
  const { shape, startedAt, door = "completions", onFirst, onAll } = expected;
  const wanted = replyShapes[shape].tokens;
  let firstMs: number | null = null;
  let tokens = 0;
  let tail = "";
  response.setEncoding("utf8");
  response.on("data", (piece: string) => {
    const before = tokens;
    // One may lie across two pieces.
    tokens += `${tail.slice(1 - mark.length)}${piece}`.split(mark).length - 1;
    tail = (tail + piece).slice(-500);
    if (tokens === before) return;
    if (firstMs === null) {
      firstMs = performance.now() - startedAt;
      onFirst?.();
    }
    if (tokens === wanted) onAll?.();
  });
  return new Promise((resolve, reject) => {
    response.once("error", reject);
    response.once("end", () => {
      const whole = response.statusCode === 200 && tokens === wanted && tail.includes(endings[door]);
      if (whole && firstMs !== null) resolve(firstMs);
      else reject(new Error(`Status ${response.statusCode}, ${tokens} tokens: ${tail}`));
    });
  });
}

/** What the model begins each token with. */
const mark = "token ";

export interface Load {
  turns: number;
  concurrency: number;
  spreadMs?: number;
  door?: Door;
  /** By the number of the turn, from 0 on; absent: each has a conversation of its own. */
  chatId?: (index: number) => string;
}

/** So many turns, so many at a time, begun evenly over `spreadMs`. Answers the milliseconds to each first token. */
export async function load(
  target: Target,
  shape: ReplyShape,
  { turns, concurrency, spreadMs = 0, door = "completions", chatId }: Load,
): Promise<number[]> {
  let begun = 0;
  const first: number[] = [];
  const work = async (_: unknown, index: number) => {
    if (spreadMs > 0) await new Promise((resolve) => setTimeout(resolve, (spreadMs * index) / concurrency));
    while (begun < turns) {
      const options = chatId ? { door, chatId: chatId(begun) } : { door };
      begun += 1;
      first.push(await turn(target, shape, options));
    }
  };
  await Promise.all(Array.from({ length: concurrency }).map(work));
  closeIdle();
  return first;
}

/** A server closes a connection that idled for seconds, perhaps at the moment when the next load takes it up. */
function closeIdle(): void {
  for (const socket of Object.values(connections.freeSockets).flat()) socket?.destroy();
}
