import { nextHop } from "../../../core/egress/redirect.ts";
import { firstHop, type Hop } from "../../../core/egress/request.ts";
import { EgressError, reachableAddresses } from "../../../core/egress/target.ts";
import { answerText } from "../../../core/egress/text.ts";
import type { Clock, Egress, EgressAnswer, EgressRequest } from "../../../core/ports.ts";
import { orAborted, withinTime } from "../../deadline.ts";
import { readBytes } from "./body.ts";
import { explainFailure } from "./failure.ts";
import { resolveBySystem } from "./names.ts";
import { type Route, send } from "./send.ts";

interface Options extends Omit<Route, "addresses"> {
  clock: Clock;
  /** All addresses of a name; `resolveBySystem` unless given. */
  resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

const usualTimeoutMs = 15_000;
const mostRedirects = 5;

/** Requests from this machine straight to the host: proxies of the environment are not used. */
export function createEgress({ clock, resolve = resolveBySystem, ...route }: Options): Egress {
  return {
    async request(request) {
      const { signal: stopped, timeoutMs = usualTimeoutMs } = request;
      const first = firstHop(request);
      const tooLate = new EgressError(`There was no whole answer within ${timeoutMs / 1000} seconds`);
      const work = (timeout: AbortSignal) => {
        const signal = AbortSignal.any([timeout, stopped]);
        return orAborted(follow(first, { request, resolve, route, signal }), signal);
      };
      return withinTime(clock, timeoutMs, tooLate, work).catch((error: unknown) => {
        if (stopped.aborted && error === stopped.reason) throw new EgressError("The request was stopped");
        throw explainFailure(error);
      });
    },
  };
}

interface FollowOptions extends Required<Pick<Options, "resolve">> {
  request: EgressRequest;
  route: Omit<Route, "addresses">;
  signal: AbortSignal;
}

/** Sends the first hop and the hops that redirects ask for; each is checked as if it were the first. */
async function follow(first: Hop, { request, resolve, route, signal }: FollowOptions): Promise<EgressAnswer> {
  let hop = first;
  const resolveHost = (name: string) => resolve(name, signal);
  for (let redirects = 0; ; redirects += 1) {
    const addresses = await reachableAddresses(hop.target, request.allowedHosts, resolveHost);
    signal.throwIfAborted();
    const response = await send(hop, { ...route, addresses }, signal);
    try {
      const { statusCode: status = 0, headers } = response;
      const next = nextHop(hop, { status, location: headers.location }, request.sensitive);
      if (!next) {
        const body = answerText(await readBytes(response, request.maxBytes), headers["content-type"]);
        return { status, headers: plainHeaders(headers), body, url: hop.target.url.href };
      }
      if (redirects === mostRedirects) throw new EgressError(`There are more than ${mostRedirects} redirects`);
      hop = next;
    } finally {
      response.destroy();
    }
  }
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
