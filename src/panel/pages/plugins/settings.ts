import type { Plugin, PluginSettings } from "../../../client/index.ts";
import { itemsIn } from "../../data/text.ts";

/**
 * An MCP server's settings, as the dialog's fields contain them: names and values as lines, such as `Authorization:
 * Bearer …`.
 */
export interface PluginInput {
  namespace: string;
  transport: { type: "http" | "stdio"; url: string; headers: string; command: string; args: string; env: string };
}

const nothing: PluginInput["transport"] = { type: "http", url: "", headers: "", command: "", args: "", env: "" };

export const blank: PluginInput = { namespace: "", transport: nothing };

/** The stored settings as text. A credential is masked; it stays stored as long as the mask is not changed. */
export function written({ namespace, transport }: Plugin): PluginInput {
  const { type } = transport;
  if (type === "http") {
    const { url, headers } = transport;
    return { namespace, transport: { ...nothing, type, url, headers: linesOf(headers, ": ") } };
  }
  const { command, args, env } = transport;
  return { namespace, transport: { ...nothing, type, command, args: args.join("\n"), env: linesOf(env, "=") } };
}

/** The settings for the API. Throws for a line without a name. */
export function settingsOf({ transport: { type, url, headers, command, args, env } }: PluginInput): PluginSettings {
  if (type === "http") return { kind: "mcp", transport: { type, url, headers: valuesOf(headers, ":") } };
  return { kind: "mcp", transport: { type, command, args: itemsIn(args, "\n"), env: valuesOf(env, "=") } };
}

/** The settings unchanged, for a change of something else. */
export const asSettings = (plugin: Plugin): PluginSettings => settingsOf(written(plugin));

const linesOf = (values: Readonly<Record<string, string>>, sign: string) =>
  Object.entries(values)
    .map(([name, value]) => `${name}${sign}${value}`)
    .join("\n");

function valuesOf(text: string, sign: string): Record<string, string> {
  return Object.fromEntries(
    itemsIn(text, "\n").map((line) => {
      const at = line.indexOf(sign);
      if (at < 1) throw new Error(`“${line.slice(0, 20)}” needs a name before ${sign}`);
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}
