import type { Plugin } from "../core/plugins/plugin.ts";
import { filesPlugin } from "./files/index.ts";
import { githubPlugin } from "./github/index.ts";
import { hubspotPlugin } from "./hubspot/index.ts";
import { markdownPdfPlugin, type ReadFont } from "./markdown-pdf/index.ts";
import { renderPlugin } from "./render/index.ts";

/** Other addresses for the services, instead of their own. */
export interface PluginBases {
  github?: string | undefined;
  render?: string | undefined;
  hubspot?: string | undefined;
}

/** The plugins that are shipped with the engine. They use only the public interface of plugins. */
export const shippedPlugins = (bases: PluginBases, readFont: ReadFont): Plugin[] => [
  githubPlugin({ baseUrl: bases.github }),
  renderPlugin({ baseUrl: bases.render }),
  hubspotPlugin({ baseUrl: bases.hubspot }),
  markdownPdfPlugin({ readFont }),
  filesPlugin(),
];
