import type { Settings } from "../../core/config.ts";
import { localAddress, version } from "../../main.ts";
import { type Check, fail, ok, warn } from "./check.ts";
import type { Probe } from "./probe.ts";

/** Checks what runs on this machine at the settings' HOST and PORT. */
export function checkServer(address: string, found: Probe): Check {
  const name = "server";
  if (found.kind === "nothing") return ok(name, `None runs at ${address}`);
  if (found.kind === "other") {
    return fail(name, `Something else answers at ${address}: stop it, or choose another PORT`);
  }
  if (found.stopping) return warn(name, `The one at ${address} is stopping`);
  if (found.version !== version) {
    return warn(name, `Version ${found.version} runs at ${address}, this is ${version}: restart it to update`);
  }
  return ok(name, `Version ${found.version} runs at ${address}`);
}

const name = "public address";

/**
 * Checks whether clients reach the installation at its public address. `found` is what answers there, `running` whether
 * a server answers on this machine, `policy` the policy `publicAddress`: null when it is not set, undefined when it
 * could not be read.
 */
export function checkPublicAddress(
  settings: Settings,
  found: Probe | null,
  running: boolean,
  policy?: string | null,
): Check {
  const { BASE_URL, HOST, PORT, TRUST_PROXY } = settings;
  const url = policy ?? BASE_URL;
  if (url === undefined || found === null) {
    if (isLocal(HOST)) return ok(name, `BASE_URL is not set: ${localAddress(HOST, PORT)}, for this machine only`);
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
  // The check of the policies names an unencrypted `publicAddress`.
  if (url === policy || !isUnencrypted(url)) return ok(name, `${url} answers`);
  const unless = policy === undefined ? "unless the policy publicAddress is https, " : "";
  return warn(name, `${url} answers, but unencrypted: ${unless}put a proxy with TLS in front and use https`);
}

function unreachable(url: string, code: string, running: boolean): Check {
  if (!running) return warn(name, `${url} does not answer (${code}): start the server, then run this again`);
  // Some routers don't let a machine reach its own public address, though others can reach it.
  if (code === "TIMEOUT") {
    return warn(name, `${url} does not answer from this machine: try ${url}/health from another one`);
  }
  return fail(
    name,
    `${url} does not answer (${code}) though a server runs here: check DNS, the proxy and its certificate`,
  );
}

/** Whether others can read the traffic to an address. */
export function isUnencrypted(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isLocal(hostname);
}

/** Whether a host is this machine, to which no traffic leaves it. */
function isLocal(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(host);
}
