import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { constants, Script } from "node:vm";
import { isObject } from "../../core/json.ts";
import type { Plugin } from "../../core/plugins/plugin.ts";
import { checkPlugin } from "../../core/plugins/plugin-check.ts";
import type { Clock } from "../../core/ports.ts";
import { clip } from "../../core/text/text.ts";
import { withinTime } from "../../core/time/deadline.ts";
import { errorCode } from "./error-code.ts";

/** A plugin that can't be used. */
export interface PluginProblem {
  /** The plugin's name in the setting `PLUGINS`. */
  specifier: string;
  message: string;
}

export interface LoadedPlugin {
  specifier: string;
  plugin: Plugin;
}

/** The plugins of an installation, and the problems of those in the setting `PLUGINS` that can't be used. */
export interface InstalledPlugins {
  shipped: readonly Plugin[];
  loaded: readonly LoadedPlugin[];
  problems: readonly PluginProblem[];
}

type Module = Readonly<Record<string, unknown>>;

interface LoadOptions {
  clock: Clock;
  /** The directory in which relative paths and packages are found; the working directory unless given. */
  directory?: string;
}

const longestLoadMs = 10_000;
const longestReason = 2_000;

/**
 * Loads the plugins of the setting `PLUGINS`, packages or paths, besides the shipped ones. Never rejects: a plugin
 * becomes a problem when it throws, hangs or is malformed, or when its namespace is taken.
 */
export async function loadPlugins(
  specifiers: readonly string[],
  present: readonly Plugin[],
  { clock, directory = process.cwd() }: LoadOptions,
): Promise<{ loaded: LoadedPlugin[]; problems: PluginProblem[] }> {
  const owners = new Map(present.map(({ namespace }) => [namespace, "a plugin that comes with the engine"]));
  const loaded: LoadedPlugin[] = [];
  const problems: PluginProblem[] = [];
  for (const specifier of specifiers) {
    try {
      const plugin = readPlugin(await importWithin(clock, specifier, directory));
      const { namespace } = plugin;
      const owner = owners.get(namespace);
      if (owner !== undefined) throw new Error(`the namespace ${namespace} is taken by ${owner}`);
      owners.set(namespace, specifier);
      loaded.push({ specifier, plugin });
    } catch (error) {
      problems.push({ specifier, message: clip(reasonOf(error), longestReason) });
    }
  }
  return { loaded, problems };
}

/** Imports within a time limit, so that a module that awaits forever can't block the server's start. */
function importWithin(clock: Clock, specifier: string, directory: string): Promise<Module> {
  const tooLate = new Error(`it did not load within ${longestLoadMs / 1000} seconds`);
  return withinTime(clock, longestLoadMs, tooLate, () => importFrom(directory, specifier));
}

/** Imports as a module in `directory` would, so that packages of the working directory are found. */
async function importFrom(directory: string, specifier: string): Promise<Module> {
  if (isAbsolute(specifier) || /^\.\.?[/\\]/.test(specifier)) {
    return import(pathToFileURL(resolve(directory, specifier)).href);
  }
  const place = join(directory, "plugins.js");
  const file = packageFile(specifier, place);
  if (file !== null) return import(pathToFileURL(file).href);
  // Imports from a script with this path: only a module there finds a package's exports, and Node goes by the file name.
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const script = new Script("(specifier) => import(specifier)", { filename: place, importModuleDynamically });
  return (script.runInThisContext() as (specifier: string) => Promise<Module>)(specifier);
}

/** The file of a package; null if its exports are only for `import`. Throws an `Error` for a missing package. */
function packageFile(specifier: string, place: string): string | null {
  try {
    return createRequire(place).resolve(specifier);
  } catch (error) {
    if (errorCode(error) === "ERR_PACKAGE_PATH_NOT_EXPORTED") return null;
    if (errorCode(error) !== "MODULE_NOT_FOUND") throw error;
    const isFile = existsSync(join(place, "..", specifier));
    const advice = isFile ? `write ./${specifier} for the file here` : "install it where the server runs";
    throw new Error(`there is no package of this name here: ${advice}`);
  }
}

/** The plugin that a module exports. Throws an `Error` that lists all its defects. */
function readPlugin({ default: given }: Module): Plugin {
  if (given === undefined) throw new Error("it has no default export");
  // Compilers mark a CommonJS module with `__esModule` and put its `export default` under `default`.
  const checked = checkPlugin(isObject(given) && given.__esModule ? given.default : given);
  if ("plugin" in checked) return checked.plugin;
  throw new Error(checked.problems.join("; "));
}

/** The first line of the message of a thrown value. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "it threw something that is no error";
  const [line = ""] = error.message.split("\n");
  // Node names the module that imports; if `PLUGINS` names a missing module, that is this one.
  return line.replace(/ imported from (.*)$/, (whole, from: string) => (isOurs(from) ? "" : whole)) || error.name;
}

const isOurs = (file: string) => pathToFileURL(file).href.startsWith(new URL(".", import.meta.url).href);
