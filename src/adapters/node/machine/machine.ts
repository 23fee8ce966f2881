import { type Check, fail, ok, warn } from "../../../core/check.ts";
import { type Environment, retiredSettings, type Settings, usualChatRequests } from "../../../core/config.ts";
import { editionOf } from "../../../core/edition.ts";
import type { Machine } from "../../../core/machine.ts";
import { scrubber } from "../../../core/scrub/scrub.ts";
import { visible } from "../../../core/text/text.ts";
import { readAddress, shownHosts } from "../../../db/address.ts";
import { bootSecrets } from "../log/log.ts";
import type { InstalledPlugins } from "../plugins.ts";
import { checkPublicAddress } from "./address.ts";
import { checkDirectory } from "./directory.ts";
import { probe } from "./probe.ts";
import { callProviders, checkProviders } from "./providers.ts";

interface MachineFacts {
  environment: Environment;
  settings: Settings;
  plugins: InstalledPlugins;
  /** The server's address on this machine. */
  local: string;
}

/** The machine on which the server that runs the checks is. */
export function thisMachine({ environment, settings, plugins, local }: MachineFacts): Machine {
  const { DATABASE_URL, BASE_URL } = settings;
  return {
    databaseHost: databaseHost(DATABASE_URL),
    scrub: bootScrub(environment),
    async examine({ publicAddress, defaultModel }) {
      const open = publicAddress ?? BASE_URL;
      const [providers, found] = await Promise.all([
        callProviders(environment, defaultModel),
        open === undefined ? null : probe(open),
      ]);
      return {
        before: [...checkSettings(environment, settings), checkDirectory(settings)],
        after: [
          ...[checkPlugins(plugins), checkProviders(environment), ...providers],
          checkPublicAddress(settings, found, { local, running: true, policy: publicAddress }),
        ],
      };
    },
  };
}

/** The host of a `DATABASE_URL`; null for the embedded database. */
export function databaseHost(url: string | undefined): string | null {
  if (url === undefined) return null;
  const address = readAddress(url);
  return address ? shownHosts(address) : "DATABASE_URL";
}

/** Removes the settings' secrets from a text for people. */
export function bootScrub(environment: Environment): (text: string) => string {
  const scrub = scrubber(bootSecrets(environment));
  return (text) => visible(scrub(text));
}

const settingsName = "settings";

/** Reports retired variables and unusual but valid settings. */
export function checkSettings(environment: Environment, settings: Settings): Check[] {
  const retired = retiredSettings(environment).map((warning) => warn(settingsName, warning));
  return [
    ...(retired.length > 0 ? retired : [ok(settingsName, "All are valid")]),
    checkEdition(settings),
    ...checkChatRequests(settings.CHAT_REQUESTS_PER_MINUTE),
  ];
}

function checkEdition(settings: Settings): Check {
  const { managed, features } = editionOf(settings);
  const list = features.length > 0 ? `with ${features.join(", ")}` : "without features";
  return ok("edition", managed ? `Managed, ${list}` : "Open");
}

/** Warns of an unusual chat limit. */
export function checkChatRequests(perMinute: number): Check[] {
  if (perMinute === usualChatRequests) return [];
  const limit = perMinute === 0 ? "no limit" : `a limit of ${perMinute} a minute`;
  return [
    warn(
      settingsName,
      `CHAT_REQUESTS_PER_MINUTE is ${perMinute}: chat completions have ${limit} for each client address, instead of ${usualChatRequests}`,
    ),
  ];
}

/** Checks whether all plugins of the setting `PLUGINS` load. */
export function checkPlugins({ shipped, loaded, problems }: InstalledPlugins): Check {
  const name = "plugins";
  if (problems.length > 0) {
    const each = problems.map(({ specifier, message }) => `${specifier} (${message})`).join(", ");
    return fail(name, `PLUGINS names what can't be used: ${each}. Mend or take out, then restart the server`);
  }
  const others = loaded.map(({ specifier, plugin }) => `${plugin.namespace} from ${specifier}`);
  return ok(name, [...shipped.map(({ namespace }) => namespace), ...others].join(", ") || "None");
}
