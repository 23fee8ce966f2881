import { builtinNames } from "../tools/index.ts";

/** What metrics call a tool. Only built-in tools have their names: those of plugins and agents are others' words. */
export function toolLabel(name: string): string {
  if (builtinNames.has(name)) return name;
  if (name.startsWith("agent:")) return "agent";
  return name.includes(":") ? "plugin" : "other";
}
