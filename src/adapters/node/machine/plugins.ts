import { type Check, fail, ok } from "../../../core/check.ts";
import type { InstalledPlugins } from "../plugins.ts";

const name = "plugins";

/** Checks whether all plugins of the setting `PLUGINS` load. */
export function checkPlugins({ shipped, loaded, problems }: InstalledPlugins): Check {
  if (problems.length > 0) {
    const each = problems.map(({ specifier, message }) => `${specifier} (${message})`).join(", ");
    return fail(name, `PLUGINS names what can't be used: ${each}. Mend or take out, then restart the server`);
  }
  const others = loaded.map(({ specifier, plugin }) => `${plugin.namespace} from ${specifier}`);
  return ok(name, [...shipped.map(({ namespace }) => namespace), ...others].join(", ") || "None");
}
