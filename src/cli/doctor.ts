import { checkPublicAddress } from "../adapters/node/machine/address.ts";
import { checkDirectory } from "../adapters/node/machine/directory.ts";
import { bootScrub, checkPlugins, checkSettings } from "../adapters/node/machine/machine.ts";
import { type Probe, probe } from "../adapters/node/machine/probe.ts";
import { callProviders, checkProviders } from "../adapters/node/machine/providers.ts";
import { localAddress } from "../core/addresses.ts";
import { type Check, fail, ok, warn } from "../core/check.ts";
import { ConfigError, type Environment, parseSettings, type Settings } from "../core/config.ts";
import { version } from "../core/version.ts";
import { installedPlugins } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { checkStorage } from "./doctor/storage.ts";
import { print, printJson } from "./print.ts";

/**
 * Examines an installation with the settings of `serve`, and lists its providers' models; changes nothing. Returns the
 * exit code.
 */
export async function doctor(environment: Environment, { json }: Flags): Promise<number> {
  const scrub = bootScrub(environment);
  const checks = (await examine(environment)).map((check) => ({ ...check, message: scrub(check.message) }));
  const healthy = checks.every(({ status }) => status !== "fail");
  if (json) {
    await printJson({ ok: healthy, checks });
  } else {
    const width = Math.max(...checks.map(({ name }) => name.length));
    const lines = checks.map(({ name, status, message }) => `${status.padEnd(4)}  ${name.padEnd(width)}  ${message}\n`);
    await print(lines.join(""));
  }
  return healthy ? 0 : 1;
}

async function examine(environment: Environment): Promise<Check[]> {
  let settings: Settings;
  try {
    settings = parseSettings(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => fail("settings", problem));
  }
  const { BASE_URL, HOST, PORT } = settings;
  const address = PORT === 0 ? null : localAddress(HOST, PORT);
  const local = address === null ? null : await probe(address);
  const running = local?.kind === "engine" ? address : null;
  const storage = await checkStorage(settings, running);
  const open = storage.publicAddress ?? BASE_URL;
  return [
    ...checkSettings(environment, settings),
    checkDirectory(settings),
    ...storage.checks,
    checkPlugins(await installedPlugins(settings)),
    checkProviders(environment),
    ...(await callProviders(environment, storage.defaultModel ?? null)),
    address === null || local === null
      ? warn("server", "PORT is 0, which is any port: a running server can't be found")
      : checkServer(address, local),
    checkPublicAddress(settings, open === undefined ? null : await probe(open), {
      local: localAddress(HOST, PORT),
      running: running !== null,
      policy: storage.publicAddress,
    }),
  ];
}

/** Checks what listens at the settings' HOST and PORT on this machine. */
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
