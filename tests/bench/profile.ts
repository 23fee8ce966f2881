import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgents, startEngine } from "./engine.ts";
import { load } from "./load.ts";

/** What V8 writes; only the fields that are read here. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

const loads = {
  short: { turns: 3_000, concurrency: 16 },
  stream: { turns: 100, concurrency: 50 },
} as const;

export const profileHead = ["Load", "Share", "Module", "Its dearest functions"];

/** Where the engine's own thread spends its time, by the modules that the bundle is made of. */
export async function measureProfile(modelUrl: string, databaseEnv: () => Promise<Record<string, string>>) {
  const rows: string[][] = [];
  for (const shape of ["short", "stream"] as const) {
    const env = { ...(await databaseEnv()), OPENAI_COMPATIBLE_BASE_URL: `${modelUrl}/v1` };
    const shares = await profileShares(env, async (url) => {
      await load(await createAgents(url), shape, loads[shape]);
    });
    rows.push(...dearest(shares).map((cells) => [shape, ...cells]));
  }
  return rows;
}

/** The shares of the engine thread's busy time: by module, then by function. */
export type Shares = Map<string, Map<string, number>>;

/** Profiles an engine of its own during `work`. */
export async function profileShares(
  env: Record<string, string>,
  work: (url: string) => Promise<void>,
): Promise<Shares> {
  const directory = await mkdtemp(join(tmpdir(), "agent-engine-profile-"));
  try {
    const engine = await startEngine({ ...env, NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${directory}` });
    try {
      await work(engine.url);
    } finally {
      await engine.stop();
    }
    const [file] = await readdir(directory);
    if (!file) throw new Error("The engine ended without a profile");
    return await sharesOf(JSON.parse(await readFile(join(directory, file), "utf8")) as Profile);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function sharesOf({ nodes, samples, timeDeltas }: Profile): Promise<Shares> {
  const files = new Map<string, (line: number) => string>();
  for (const url of new Set(nodes.map(({ callFrame }) => callFrame.url))) {
    if (url.includes("/dist/")) files.set(url, await bundleModules(url));
  }
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const name = functionName || "(anonymous)";
      return [id, { module: files.get(url)?.(lineNumber) ?? ofRuntime(url, name), name }];
    }),
  );
  const times: Shares = new Map();
  let busy = 0;
  for (const [index, sample] of samples.entries()) {
    const { module, name } = names.get(sample) ?? { module: "?", name: "?" };
    if (name === "(idle)" || name === "(root)") continue;
    const time = timeDeltas[index] ?? 0;
    busy += time;
    const functions = times.get(module) ?? new Map<string, number>();
    functions.set(name, (functions.get(name) ?? 0) + time);
    times.set(module, functions);
  }
  const share = (functions: Map<string, number>) => new Map([...functions].map(([name, time]) => [name, time / busy]));
  return new Map([...times].map(([module, functions]) => [module, share(functions)]));
}

export const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

export const totalShare = (functions: Map<string, number>) =>
  [...functions.values()].reduce((sum, share) => sum + share, 0);

function dearest(shares: Shares): string[][] {
  return [...shares]
    .sort((a, b) => totalShare(b[1]) - totalShare(a[1]))
    .slice(0, 8)
    .map(([module, functions]) => {
      const most = [...functions].sort((a, b) => b[1] - a[1]).slice(0, 4);
      const named = most.map(([name, share]) => `${name} ${percent(share)}`);
      return [percent(totalShare(functions)), module, named.join(", ")];
    });
}

const families = [
  [/^node:internal\/deps\/undici/, "fetch"],
  [/^node:internal\/(webstreams|encoding)/, "web streams"],
  [/^node:(internal\/(streams|stream_base|process|timers|event|async)|net|events|stream)/, "Node's streams and events"],
  [/^node:_http/, "Node's HTTP"],
  [/^wasm:/, "Node's HTTP"],
] as const;

function ofRuntime(url: string, name: string): string {
  if (/^write(v|Buffer|\w*String)$/.test(name) && url === "") return "writing to sockets";
  return families.find(([pattern]) => pattern.test(url))?.[1] ?? (url || "V8 and native code");
}

/** A comment in the bundle precedes each module with its name. */
async function bundleModules(url: string): Promise<(line: number) => string> {
  const lines = (await readFile(new URL(url), "utf8")).split("\n");
  let module = url.slice(url.lastIndexOf("/dist/") + 1);
  const modules = lines.map((line) => {
    const path = /^(?:\/\/|\s+"?)\s?((?:src|node_modules|[.][.])\/\S+\.[cm]?[jt]s)"?/.exec(line)?.[1];
    if (path) module = path.replace(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)\/.*$/, "$1");
    return module;
  });
  return (line) => modules[line] ?? url;
}
