import type { Probe } from "../../adapters/node/machine/probe.ts";
import { type Check, fail, ok, warn } from "../../core/check.ts";
import { version } from "../../main.ts";

/** Checks the program at the settings' HOST and PORT on this machine. */
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
