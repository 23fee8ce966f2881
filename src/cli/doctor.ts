import { bootSecrets } from "../adapters/node/log.ts";
import {
  ConfigError,
  type Environment,
  parseSettings,
  retiredSettings,
  type Settings,
  usualChatRequests,
} from "../core/config.ts";
import { scrubber } from "../core/scrub/scrub.ts";
import { visible } from "../core/text.ts";
import { installedPlugins, localAddress } from "../main.ts";
import type { Flags } from "./arguments.ts";
import { checkPublicAddress, checkServer } from "./doctor/address.ts";
import { type Check, fail, ok, warn } from "./doctor/check.ts";
import { checkDirectory } from "./doctor/directory.ts";
import { checkPlugins } from "./doctor/plugins.ts";
import { probe } from "./doctor/probe.ts";
import { callProviders, checkProviders } from "./doctor/providers.ts";
import { checkStorage } from "./doctor/storage.ts";
import { print, printJson } from "./print.ts";

/** Examines an installation under the settings of `serve`, asks its providers for their models, changes nothing, and answers the exit code. */
export async function doctor(environment: Environment, { json }: Flags): Promise<number> {
  const scrub = scrubber(bootSecrets(environment));
  const checks = (await examine(environment)).map((check) => ({ ...check, message: visible(scrub(check.message)) }));
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

/** Warns of a limit of chat that is not the usual one. */
export function checkChatRequests(perMinute: number): Check[] {
  if (perMinute === usualChatRequests) return [];
  const limit = perMinute === 0 ? "no limit" : `a limit of ${perMinute} a minute`;
  return [
    warn(
      "settings",
      `CHAT_REQUESTS_PER_MINUTE is ${perMinute}: chat completions have ${limit} for each client address, instead of ${usualChatRequests}`,
    ),
  ];
}

async function examine(environment: Environment): Promise<Check[]> {
  let settings: Settings;
  try {
    settings = parseSettings(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map((problem) => fail("settings", problem));
  }
  const retired = retiredSettings(environment).map((warning) => warn("settings", warning));
  const { BASE_URL, HOST, PORT, CHAT_REQUESTS_PER_MINUTE } = settings;
  const address = PORT === 0 ? null : localAddress(HOST, PORT);
  const local = address === null ? null : await probe(address);
  const running = local?.kind === "engine" ? address : null;
  const storage = await checkStorage(settings, running);
  const open = storage.publicAddress ?? BASE_URL;
  return [
    ...(retired.length > 0 ? retired : [ok("settings", "All are valid")]),
    ...checkChatRequests(CHAT_REQUESTS_PER_MINUTE),
    checkDirectory(settings),
    ...storage.checks,
    checkPlugins(await installedPlugins(settings)),
    checkProviders(environment),
    ...(await callProviders(environment, storage.defaultModel ?? null)),
    address === null || local === null
      ? warn("server", "PORT is 0, which is any port: a running server can't be found")
      : checkServer(address, local),
    checkPublicAddress(
      settings,
      open === undefined ? null : await probe(open),
      running !== null,
      storage.publicAddress,
    ),
  ];
}
