import {
  type AgentOptions,
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, type RequestOptions, request as requestHttps } from "node:https";
import { isIPv6, type LookupFunction } from "node:net";
import { checkServerIdentity } from "node:tls";
import type { Hop } from "../../../core/egress/request.ts";
import { EgressError, reachableAddresses } from "../../../core/egress/target.ts";

/** How to reach one host. */
interface Route {
  /** The host's addresses, all checked; `send` connects to no other address. */
  addresses: readonly string[];
  /** Returns the address to connect to instead of the given one, so that tests can simulate the internet. */
  dial?: (address: string) => string;
  /** Certificates to trust instead of the usual ones, as PEM. */
  ca?: string;
}

/** How to find and reach hosts. */
export interface Network extends Omit<Route, "addresses"> {
  /** Resolves all addresses of a name. */
  resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/**
 * Sends one hop, only to a checked address of its host. Throws an `EgressError` before any connection for a host that
 * is neither public nor one of `allowedHosts`.
 */
export async function sendChecked(
  hop: Hop,
  allowedHosts: readonly string[],
  { resolve, ...route }: Network,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const addresses = await reachableAddresses(hop.target, allowedHosts, (name) => resolve(name, signal));
  signal.throwIfAborted();
  return send(hop, { ...route, addresses }, signal);
}

const mostInformation = 8;

/** Sends one hop over its own connection. Resolves with the response's headers; the body is not read yet. */
function send(hop: Hop, route: Route, signal: AbortSignal): Promise<IncomingMessage> {
  const { url, literal, host, port } = hop.target;
  const [first = "", ...others] = route.addresses.map(route.dial ?? ((address) => address));
  const options = { ...message(hop), host: literal ? first : host, port, signal };
  const pinned = pinTo([first, ...others]);
  const outgoing =
    url.protocol === "https:"
      ? requestHttps({ ...options, ...verification(hop, route), agent: new HttpsAgent(pinned) })
      : requestHttp({ ...options, agent: new HttpAgent(pinned) });
  const answer = answerOf(outgoing);
  outgoing.end(hop.body ?? undefined);
  return answer;
}

/** Makes every name resolve to these addresses, since a second resolution might return others. */
function pinTo(addresses: readonly string[]): AgentOptions {
  const entries = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const lookup: LookupFunction = (_name, { all }, callback) => {
    const [first] = entries;
    if (all) callback(null, entries);
    else callback(null, first?.address ?? "", first?.family);
  };
  // Node waits 250 ms for each address but the last, which is too short for a distant host.
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_500 };
}

function message({ target, method, headers, body }: Hop): RequestOptions {
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const usual = { Accept: "*/*", "User-Agent": "agent-engine" };
  const framed = body !== null || ["POST", "PUT", "PATCH"].includes(method);
  return {
    method,
    path: `${target.url.pathname}${target.url.search}`,
    headers: {
      Host: target.url.host,
      "Accept-Encoding": "gzip, deflate, br",
      Connection: "close",
      ...(framed ? { "Content-Length": body?.length ?? 0 } : {}),
      ...Object.fromEntries(Object.entries(usual).filter(([name]) => !given.has(name.toLowerCase()))),
      ...Object.fromEntries(headers),
    },
    maxHeaderSize: 16_384,
    insecureHTTPParser: false,
  };
}

/** Requires a certificate of the requested host, even if the environment turns verification off. */
function verification({ target }: Hop, { ca }: Route): RequestOptions {
  const servername = target.literal ? "" : target.host;
  return {
    servername,
    rejectUnauthorized: true,
    checkServerIdentity: (_, certificate) => checkServerIdentity(target.host, certificate),
    ...(ca === undefined ? {} : { ca }),
  };
}

function answerOf(outgoing: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const refuse = (message: string) => outgoing.destroy(new EgressError(message));
    let informed = 0;
    outgoing.on("information", () => {
      informed += 1;
      if (informed > mostInformation) refuse("The host sent no end of preliminary answers");
    });
    outgoing.once("upgrade", (_, socket) => {
      socket.destroy();
      reject(new EgressError("The host answered in another protocol than HTTP"));
    });
    outgoing.once("response", resolve);
    outgoing.on("error", reject);
    outgoing.once("close", () => reject(new EgressError("The host closed the connection without an answer")));
  });
}
