import { connect, type Socket } from "node:net";

// Offers turns from a process of its own, over raw sockets: the load must not be slower than the server that it overloads.

export interface Offer {
  url: string;
  /** The agents with their keys, used in turn. */
  agents: readonly { slug: string; key: string }[];
  ms: number;
  /** This many at a time, each after the one before; else `perSecond`, whether or not any is answered. */
  concurrency?: number;
  perSecond?: number;
}

/** One answer: when its request was sent, the time until it was complete, and its status; 0 for a broken connection. */
export interface Answer {
  at: number;
  ms: number;
  status: number;
}

const free: Socket[] = [];
let calls = 0;

/** Sends one streamed turn; resolves when its reply is complete. */
export function ask(
  url: URL,
  { slug, key }: Offer["agents"][number],
  onData: (data: Buffer) => void = () => {},
): Promise<Answer> {
  calls += 1;
  const body = `{"model":"${slug}","stream":true,"chat_id":"o-${process.pid}-${calls}","messages":[{"role":"user","content":"What is the capital of Switzerland, and why?"}]}`;
  // The throttle counts by address.
  const address = `10.${(calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`;
  const text = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${url.host}\r\nAuthorization: Bearer ${key}\r\nX-Forwarded-For: ${address}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const at = performance.now();
  const socket = free.pop() ?? connect({ host: url.hostname, port: Number(url.port), noDelay: true });
  return new Promise((resolve) => {
    let status = 0;
    let tail = "";
    const done = (kept: boolean) => {
      socket.removeAllListeners();
      socket.on("error", () => {});
      if (kept) {
        socket.once("close", () => free.splice(free.indexOf(socket) >>> 0, 1));
        free.push(socket);
      }
      resolve({ at, ms: performance.now() - at, status });
    };
    socket.on("error", () => done(false));
    socket.on("close", () => {
      status = 0;
      done(false);
    });
    socket.on("data", (data: Buffer) => {
      onData(data);
      if (status === 0) status = Number(data.toString("latin1", 9, 12));
      tail = (tail + data.toString("latin1", Math.max(0, data.length - 512))).slice(-1024);
      // A refusal is one JSON text, and a stream is chunked.
      if (status === 200 ? tail.endsWith("0\r\n\r\n") : tail.endsWith("}") || tail.endsWith("0\r\n\r\n")) done(true);
    });
    socket.write(text, "latin1");
  });
}

async function offer({ url, agents, ms, concurrency, perSecond = 0 }: Offer): Promise<Answer[]> {
  const server = new URL(url);
  const answers: Answer[] = [];
  const asked: Promise<unknown>[] = [];
  const next = () => agents[calls % agents.length] ?? { slug: "", key: "" };
  const one = async () => void answers.push(await ask(server, next()));
  const startedAt = performance.now();
  const left = () => startedAt + ms - performance.now();
  if (concurrency !== undefined) {
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (left() > 0) await one();
      }),
    );
    return answers;
  }
  let sent = 0;
  while (left() > 0) {
    const due = Math.floor(((performance.now() - startedAt) * perSecond) / 1000);
    for (; sent < due; sent += 1) asked.push(one());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  // Waiting callers give up, so that the server's recovery is its own.
  await Promise.race([Promise.all(asked), new Promise((resolve) => setTimeout(resolve, 2_000))]);
  return answers;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  process.on("message", async (wanted: Offer) => {
    const startedAt = performance.now();
    const answers = await offer(wanted);
    process.send?.(answers.map((answer) => ({ ...answer, at: answer.at - startedAt })));
  });
}
