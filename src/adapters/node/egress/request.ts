import { EgressError, reachableAddresses } from "../../../core/egress.ts";
import { nextHop } from "../../../core/egress-redirect.ts";
import { firstHop, type Hop } from "../../../core/egress-request.ts";
import { answerText } from "../../../core/egress-text.ts";
import type { Clock, Egress, EgressAnswer, EgressRequest } from "../../../core/ports.ts";
import { readBytes } from "./body.ts";
import { explainFailure } from "./failure.ts";
import { resolveBySystem } from "./names.ts";
import { type Route, send } from "./send.ts";

interface Options extends Omit<Route, "addresses"> {
  clock: Clock;
  /** All addresses of a name; by default, what the system says. */
  resolve?: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

const usualTimeoutMs = 15_000;
const mostRedirects = 5;

/** The way out of this machine, straight to the host: proxies of the environment are not used. */
export function createEgress({ clock, resolve = resolveBySystem, ...route }: Options): Egress {
  return {
    async request(request) {
      const first = firstHop(request);
      const travel = (signal: AbortSignal) => follow(first, { request, resolve, route, signal });
      return withinDeadline(clock, request, travel).catch((error: unknown) => {
        throw explainFailure(error);
      });
    },
  };
}

interface Journey extends Required<Pick<Options, "resolve">> {
  request: EgressRequest;
  route: Omit<Route, "addresses">;
  signal: AbortSignal;
}

/** Sends the hop and those that redirects ask for; each one is checked as if it were the first. */
async function follow(first: Hop, { request, resolve, route, signal }: Journey): Promise<EgressAnswer> {
  let hop = first;
  const resolveInTime = (name: string) => resolve(name, signal);
  for (let redirects = 0; ; redirects += 1) {
    const addresses = await reachableAddresses(hop.target, request.allowedHosts, resolveInTime);
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

/** Ends the work, a resolver that hangs included, when its time is over or the caller's signal says so. */
async function withinDeadline<T>(
  clock: Clock,
  { signal, timeoutMs = usualTimeoutMs }: EgressRequest,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = (reason: string) => controller.abort(new EgressError(reason));
  const onAbort = () => stop("The request was stopped");
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
  });
  const cancel = clock.after(timeoutMs, () => stop(`There was no whole answer within ${timeoutMs / 1000} seconds`));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([ended, work(controller.signal)]);
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
