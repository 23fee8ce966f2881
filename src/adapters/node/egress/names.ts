import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { orAborted } from "../../../core/time/deadline.ts";

/**
 * All addresses of a name as the system resolves it: from its hosts file, else from DNS, else from the system's other
 * sources. Rejects with Node's error for a name without addresses, and with the signal's reason at once after an abort.
 */
export function resolveBySystem(name: string, signal: AbortSignal): Promise<readonly string[]> {
  return orAborted(findAddresses(name, signal), signal);
}

async function findAddresses(name: string, signal: AbortSignal): Promise<readonly string[]> {
  const listed = addressesIn(await readHostsFile(), name);
  if (listed.length > 0) return listed;
  return (await askDns(name, signal)) ?? (await askSystem(name, signal));
}

/** The addresses of a name in a hosts file (hosts(5)). */
export function addressesIn(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase().replace(/\.$/, "");
  const found = hosts.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    return names.some((one) => one.toLowerCase() === wanted) ? [address] : [];
  });
  // Without addresses that have a zone (`fe80::1%lo0`), which would pass no check.
  return [...new Set(found)].filter((address) => !address.includes("%"));
}

/** Empty on systems without this file, whose names `askSystem` finds. */
const readHostsFile = () => readFile("/etc/hosts", "utf8").catch(() => "");

/** Null for a name that DNS does not know: the system may have a search list, or another source of names. */
async function askDns(name: string, signal: AbortSignal): Promise<string[] | null> {
  signal.throwIfAborted();
  // Unlike `lookup`, a Resolver blocks no thread while it waits, so a name with slow servers delays no other name.
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

/** Settles when the last requested `lookup` has ended, with or without success. */
let lastLookup: Promise<unknown> = Promise.resolve();

/**
 * Looks up one name at a time: only two of Node's four threads look up names, and model providers need the other one. A
 * running `lookup` can't be stopped; one that waits is skipped when its signal has aborted.
 */
async function askSystem(name: string, signal: AbortSignal): Promise<string[]> {
  const answer = lastLookup.then(() => {
    signal.throwIfAborted();
    return lookup(name, { all: true });
  });
  lastLookup = answer.catch(() => {});
  return (await answer).map(({ address }) => address);
}
