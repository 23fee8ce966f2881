import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";

/**
 * All addresses of a name as the system knows them: by its file of hosts, else by DNS, else by whatever else the system
 * asks. Rejects with an error of Node's for a name that has none, and at once when the signal is aborted.
 */
export async function resolveBySystem(name: string, signal: AbortSignal): Promise<readonly string[]> {
  const listed = addressesIn(await hostsFile(), name);
  if (listed.length > 0) return listed;
  return (await askDns(name, signal)) ?? (await askSystem(name, signal));
}

/** The addresses that a file of hosts (hosts(5)) has for a name. */
export function addressesIn(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  const found = hosts.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    return names.some((one) => one.toLowerCase() === wanted) ? [address] : [];
  });
  // A zone is of no use to those who check an address.
  return [...new Set(found)].filter((address) => !address.includes("%"));
}

/** Systems that keep it elsewhere find its names with `lookup`. */
const hostsFile = () => readFile("/etc/hosts", "utf8").catch(() => "");

/** Null where DNS does not know the name: there may be a search list, or another source of names. */
async function askDns(name: string, signal: AbortSignal): Promise<string[] | null> {
  signal.throwIfAborted();
  // It waits in no thread, unlike `lookup`: a name whose servers are slow holds up nobody else's.
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const stop = () => resolver.cancel();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    signal.throwIfAborted();
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const late = answers.find((answer) => answer.status === "rejected" && answer.reason.code === "ETIMEOUT");
    if (late?.status === "rejected") throw late.reason;
    return null;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The last one that asks the system, whatever came of it. */
let asking: Promise<unknown> = Promise.resolve();

/**
 * One at a time: of Node's four threads only two look up names at once, and the model providers need the other one. What
 * is begun cannot be stopped; who gives up while others are asked for leaves the row.
 */
async function askSystem(name: string, signal: AbortSignal): Promise<string[]> {
  const answer = asking.then(() => {
    signal.throwIfAborted();
    return lookup(name, { all: true });
  });
  asking = answer.catch(() => {});
  return (await answer).map(({ address }) => address);
}
