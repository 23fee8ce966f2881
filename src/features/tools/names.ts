import { digest, toHex } from "../../core/ids.ts";

/** The longest tool name that providers accept. */
const longest = 64;
const hashLength = 8;

/**
 * The tools' names for models, by canonical name (decisions §7): `:` becomes `__`, other signs become `_`. Names longer
 * than 64 characters, and equal names, get a short hash at the end. This map also leads back from a name to its tool:
 * names are never split.
 */
export async function modelNames(canonical: Iterable<string>): Promise<Map<string, string>> {
  const plain = [...new Set(canonical)].map((name) => ({ name, shown: plainName(name) }));
  const times = new Map<string, number>();
  for (const { shown } of plain) times.set(shown, (times.get(shown) ?? 0) + 1);
  const entries = plain.map(async ({ name, shown }): Promise<[string, string]> => {
    const clear = shown.length <= longest && (times.get(shown) === 1 || shown === name);
    return [name, clear ? shown : `${shown.slice(0, longest - hashLength - 1)}_${await shortHash(name)}`];
  });
  return new Map(await Promise.all(entries));
}

function plainName(name: string): string {
  // The tool that calls an agent is named like its action: `agent:my-agent` is `ask_my_agent`.
  const spoken = name.startsWith("agent:") ? `ask_${name.slice("agent:".length)}` : name;
  const pattern = name.startsWith("agent:") ? /[^A-Za-z0-9_]/g : /[^A-Za-z0-9_-]/g;
  return spoken.replaceAll(":", "__").replaceAll(pattern, "_");
}

async function shortHash(name: string): Promise<string> {
  return toHex(await digest(name)).slice(0, hashLength);
}
