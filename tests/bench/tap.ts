import { connect, createServer, type Socket } from "node:net";
import { withDatabase } from "../real-postgres.ts";

export interface Tap {
  /** The address of the database behind the tap. */
  url: string;
  /** The statements executed since the last call, oldest first. */
  take(): Executed[];
  stop(): Promise<void>;
}

export interface Executed {
  text: string;
  /** As the driver sent them; empty for a statement without. */
  parameters: (string | null)[];
  /** By `performance.now()`. */
  at: number;
}

/** Listens in on the wire to PostgreSQL, and so hears each statement whatever sends it. Only without TLS. */
export async function tap(databaseUrl: string): Promise<Tap> {
  const { hostname, port } = new URL(databaseUrl);
  let heard: Executed[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(Number(port || 5432), hostname);
    const listen = listener((text, parameters) => heard.push({ text, parameters, at: performance.now() }));
    for (const socket of [client, database]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        database.destroy();
      });
    }
    client.on("data", listen);
    client.pipe(database).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const tapped = new URL(withDatabase(databaseUrl, new URL(databaseUrl).pathname.slice(1)));
  tapped.host = `127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  return {
    url: tapped.href,
    take() {
      const taken = heard;
      heard = [];
      return taken;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Reads one connection's messages: Parse names a text, Bind chooses it, Execute runs it; Query is all in one. */
function listener(executed: (text: string, parameters: (string | null)[]) => void): (piece: Buffer) => void {
  const texts = new Map<string, string>();
  let rest = Buffer.alloc(0);
  let greeted = false;
  let bound = "";
  let parameters: (string | null)[] = [];
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    // Only the startup message has no letter before its length.
    for (;;) {
      const start = greeted ? 1 : 0;
      if (rest.length < start + 4) return;
      const end = start + rest.readInt32BE(start);
      if (rest.length < end) return;
      const letter = greeted ? String.fromCharCode(rest[0] ?? 0) : "";
      const [first = "", second = ""] = rest.toString("utf8", start + 4, end).split("\0", 2);
      if (letter === "P") texts.set(first, second);
      else if (letter === "B") {
        bound = second;
        parameters = parametersOf(
          rest.subarray(start + 4 + Buffer.byteLength(first) + Buffer.byteLength(second) + 2, end),
        );
      } else if (letter === "E") executed(texts.get(bound) ?? "", parameters);
      else if (letter === "Q") executed(first, []);
      greeted = true;
      rest = rest.subarray(end);
    }
  };
}

/** The parameters of a Bind, behind its names: their formats, which are all text, and their lengths and values. */
function parametersOf(message: Buffer): (string | null)[] {
  let at = 2 + 2 * message.readInt16BE(0);
  const count = message.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    const length = message.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    at += length;
    return message.toString("utf8", at - length, at);
  });
}
