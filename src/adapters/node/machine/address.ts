import { isLocal, isUnencrypted } from "../../../core/addresses.ts";
import { type Check, fail, ok, warn } from "../../../core/check.ts";
import type { Settings } from "../../../core/config.ts";
import type { Probe } from "./probe.ts";

const name = "public address";

interface ServerAddress {
  /** The server's address on this machine. */
  local: string;
  /** Whether a server answers on this machine. */
  running: boolean;
  /** The policy `publicAddress`: null when unset, absent when it could not be read. */
  policy?: string | null | undefined;
}

/** Checks whether clients reach the installation at its public address; `found` is the server found there. */
export function checkPublicAddress(
  { BASE_URL, HOST, TRUST_PROXY }: Settings,
  found: Probe | null,
  { local, running, policy }: ServerAddress,
): Check {
  const url = policy ?? BASE_URL;
  if (url === undefined || found === null) {
    if (isLocal(HOST)) return ok(name, `BASE_URL is not set: ${local}, for this machine only`);
    return warn(name, `BASE_URL is not set while HOST is ${HOST}: set it to the address that clients use`);
  }
  if (found.kind === "nothing") return unreachable(url, found.code, running);
  if (found.kind === "other") {
    const setting = url === policy ? "the policy publicAddress" : "BASE_URL";
    return fail(name, `${url} is answered by something else (status ${found.status}): check the proxy and ${setting}`);
  }
  if (new URL(url).protocol === "https:" && TRUST_PROXY === 0) {
    return warn(
      name,
      `${url} answers, but TRUST_PROXY is 0: all clients count as one; set it to the number of proxies`,
    );
  }
  // That `publicAddress` is unencrypted is reported by the check of the policies.
  if (url === policy || !isUnencrypted(url)) return ok(name, `${url} answers`);
  const unless = policy === undefined ? "unless the policy publicAddress is https, " : "";
  return warn(name, `${url} answers, but unencrypted: ${unless}put a proxy with TLS in front and use https`);
}

function unreachable(url: string, code: string, running: boolean): Check {
  if (!running) return warn(name, `${url} does not answer (${code}): start the server, then run this again`);
  // Some routers keep a machine from its own public address, although others can reach it.
  if (code === "TIMEOUT") {
    return warn(name, `${url} does not answer from this machine: try ${url}/health from another one`);
  }
  return fail(
    name,
    `${url} does not answer (${code}) though a server runs here: check DNS, the proxy and its certificate`,
  );
}
