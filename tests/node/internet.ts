import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { guardedFetch } from "../../src/adapters/node/egress/fetch.ts";
import { createEgress } from "../../src/adapters/node/egress/request.ts";
import type { Network } from "../../src/adapters/node/egress/send.ts";
import { unfinishedAnswers } from "../../src/core/egress/unfinished.ts";
import type { EgressAnswer, EgressRequest } from "../../src/core/ports.ts";
import { TestClock } from "../clock.ts";

/** An address of the internet, which the tests play on this machine. */
export const publicAddress = "93.184.215.14";

/** Another one, without a server. */
export const deadAddress = "93.184.215.15";

const thisMachine = new Set(["127.0.0.1", "127.0.0.2", "127.0.0.3", "0.0.0.0", "::1", "::"]);

const fixture = (name: string) => readFileSync(new URL(`../fixtures/egress/${name}`, import.meta.url), "utf8");
const certificate = { key: fixture("key.pem"), cert: fixture("certificate.pem") };

type Names = Readonly<Record<string, readonly string[] | (() => readonly string[] | Promise<readonly string[]>)>>;

/** The requests to the servers of the internet, with their bodies. */
interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export interface Internet {
  clock: TestClock;
  /** Each address that was about to be connected to. */
  dialled: string[];
  /** Each name that was resolved. */
  resolved: string[];
  asked: Asked[];
  /** As `createModels` takes it. */
  guarded: ReturnType<typeof guardedFetch>;
  ask(url: string, request?: Partial<EgressRequest>): Promise<EgressAnswer>;
  /** A web server at the public address; `http://public.test:<port>`, or `https` when it is secure. */
  serve(listener: (asked: Asked, response: ServerResponse) => unknown, options?: { secure?: boolean }): Promise<string>;
  /** A server there that speaks any protocol, once it has received something. */
  speak(talk: (socket: Socket) => void): Promise<string>;
}

/** The egress, with a resolver, a clock and an internet of one address that the test controls. */
export function internet(names: Names = {}, { trusted = true, unfinished = unfinishedAnswers() } = {}): Internet {
  const clock = new TestClock();
  const [dialled, resolved, asked]: [string[], string[], Asked[]] = [[], [], []];
  const known: Names = { "public.test": [publicAddress], "other.test": [publicAddress], ...names };
  const network: Partial<Network> = {
    ...(trusted ? { ca: certificate.cert } : {}),
    async resolve(name) {
      resolved.push(name);
      const answer = known[name.replace(/\.$/, "")];
      if (answer === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
      return typeof answer === "function" ? answer() : answer;
    },
    dial(address) {
      dialled.push(address);
      if (address === publicAddress) return "127.0.0.1";
      if (address === deadAddress) return "127.0.0.2";
      // In any case, no packet leaves this machine.
      if (!thisMachine.has(address)) throw new Error(`${address} was dialled`);
      return address;
    },
  };
  const egress = createEgress({ clock, unfinished, ...network });

  const ask: Internet["ask"] = (url, request = {}) => {
    const { signal } = new AbortController();
    const usual = { method: "GET", headers: {}, allowedHosts: [], sensitive: false, maxBytes: 1_048_576, signal };
    return egress.request({ url, ...usual, ...request });
  };

  const serve: Internet["serve"] = async (answer, { secure = false } = {}) => {
    const listener: RequestListener = async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString();
      const { method = "", url = "", headers } = incoming;
      asked.push({ method, url, headers, body });
      answer({ method, url, headers, body }, response);
    };
    const server = secure ? createSecureServer(certificate, listener) : createServer(listener);
    onTestFinished(() => server.closeAllConnections());
    return `${secure ? "https" : "http"}://public.test:${await listenOn(server)}`;
  };

  const speak: Internet["speak"] = async (talk) => {
    const server = createRawServer((socket) => {
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => {});
      socket.once("data", () => talk(socket));
    });
    return `http://public.test:${await listenOn(server)}`;
  };

  return { clock, dialled, resolved, asked, ask, guarded: guardedFetch(network), serve, speak };
}

export interface Canary {
  port: number;
  /** The number of connections. */
  hits(): number;
}

/** A server on all addresses of this machine, which nobody may reach without permission. */
export async function canary(): Promise<Canary> {
  let hits = 0;
  const server = createServer((_, response) => response.end("canary"));
  server.on("connection", () => {
    hits += 1;
  });
  onTestFinished(() => server.closeAllConnections());
  const port = await listenOn(server, "::").catch(() => listenOn(server, "0.0.0.0"));
  return { port, hits: () => hits };
}

async function listenOn(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
