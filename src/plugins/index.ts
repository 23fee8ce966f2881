import type { Plugin } from "../core/plugin.ts";

/** The families of tools that come with the engine. They use nothing that a plugin of anybody else could not use. */
export const shippedPlugins = (): Plugin[] => [];
