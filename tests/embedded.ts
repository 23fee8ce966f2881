import { template } from "../scripts/make-template.ts";
import { type Embedded, superviseDatabase } from "../src/adapters/node/embedded/thread.ts";
import type { Log } from "../src/core/ports.ts";

/** A log that collects its messages. */
export function collectLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const keep = (_fields: unknown, message: string) => void lines.push(message);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
  return { log, lines };
}

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** The embedded database as the server runs it, but in memory, with the schema of this release. */
export async function startEmbedded(): Promise<Embedded> {
  return superviseDatabase({ directory: null, template: await template() }, silent);
}
