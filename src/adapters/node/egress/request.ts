import { nextHop } from "../../../core/egress/redirect.ts";
import { firstHop, type Hop } from "../../../core/egress/request.ts";
import { EgressError } from "../../../core/egress/target.ts";
import { answerText } from "../../../core/egress/text.ts";
import { unfinishedAnswers } from "../../../core/egress/unfinished.ts";
import type { ByteBound } from "../../../core/limits/byte-bound.ts";
import type { Clock, Egress, EgressAnswer, EgressRequest } from "../../../core/ports.ts";
import { orAborted, withinTime } from "../../../core/time/deadline.ts";
import { plainHeaders } from "../plain-headers.ts";
import { readBytes } from "./body.ts";
import { explainFailure } from "./failure.ts";
import { resolveBySystem } from "./names.ts";
import { type Network, sendChecked } from "./send.ts";

interface Options extends Omit<Network, "resolve"> {
  clock: Clock;
  /** `resolveBySystem` unless given. */
  resolve?: Network["resolve"];
  /** Counts unfinished responses together with other readers of tool responses; separately unless given. */
  unfinished?: ByteBound;
}

const usualTimeoutMs = 15_000;
const mostRedirects = 5;

/** Sends requests from this machine directly to their hosts; the environment's proxies are not used. */
export function createEgress({
  clock,
  resolve = resolveBySystem,
  unfinished = unfinishedAnswers(),
  ...route
}: Options): Egress {
  return {
    async request(request) {
      const { signal: stopped, timeoutMs = usualTimeoutMs } = request;
      const first = firstHop(request);
      const tooLate = new EgressError(`There was no whole answer within ${timeoutMs / 1000} seconds`);
      const work = (timeout: AbortSignal) => {
        const signal = AbortSignal.any([timeout, stopped]);
        return orAborted(follow(first, { request, network: { ...route, resolve }, unfinished, signal }), signal);
      };
      return withinTime(clock, timeoutMs, tooLate, work).catch((error: unknown) => {
        if (stopped.aborted && error === stopped.reason) throw new EgressError("The request was stopped");
        throw explainFailure(error);
      });
    },
  };
}

interface FollowOptions {
  request: EgressRequest;
  network: Network;
  unfinished: ByteBound;
  signal: AbortSignal;
}

/** Sends the first hop and its redirects; each is checked as if it were the first. */
async function follow(first: Hop, { request, network, unfinished, signal }: FollowOptions): Promise<EgressAnswer> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendChecked(hop, request.allowedHosts, network, signal);
    const incoming = unfinished.begin(request.owner);
    try {
      const { statusCode: status = 0, headers } = response;
      const next = nextHop(hop, { status, location: headers.location }, request.sensitive);
      if (!next) {
        const bytes = await readBytes(response, { maxBytes: request.maxBytes, incoming });
        const body = answerText(bytes, headers["content-type"]);
        return { status, headers: plainHeaders(headers), body, url: hop.target.url.href };
      }
      if (redirects === mostRedirects) throw new EgressError(`There are more than ${mostRedirects} redirects`);
      hop = next;
    } finally {
      incoming.end();
      response.destroy();
    }
  }
}
