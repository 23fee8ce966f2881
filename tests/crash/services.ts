import { flushCompileCache } from "node:module";
import { systemClock } from "../../src/adapters/node/clock.ts";
import { openEmbedded } from "../../src/adapters/node/embedded/database.ts";
import { shippedAssets } from "../../src/adapters/node/shipped.ts";
import type { Services } from "../../src/context/ctx.ts";
import { ActivityBus } from "../../src/core/activity/bus.ts";
import { createCipher } from "../../src/core/credentials/cipher.ts";
import { openEdition } from "../../src/core/edition.ts";
import { Admission } from "../../src/core/limits/admission.ts";
import { unexamined } from "../../src/core/machine.ts";
import { unmeasured } from "../../src/core/meters.ts";
import { Fallbacks } from "../../src/core/models/fallbacks.ts";
import { localNotify } from "../../src/core/notify.ts";
import { CurrentPolicies } from "../../src/core/policies.ts";
import type { Log, StreamingModel } from "../../src/core/ports.ts";
import { AgentSecrets } from "../../src/core/scrub/agent-secrets.ts";
import { untraced } from "../../src/core/tracing.ts";
import { type Database, openDatabase } from "../../src/db/client.ts";
import { memoryFiles } from "../stored-files.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** The database at an address, or in a directory. */
export async function openPlace(place: string): Promise<Database> {
  const options = { prepare: true, deadlineMs: 60_000, clock: systemClock };
  if (place.startsWith("postgres:")) return openDatabase({ url: place }, { ...options, max: 6 });
  return openDatabase((await openEmbedded(place, silent, null)).target, { ...options, max: 1 });
}

const refuse = async () => Promise.reject(new Error("There is nothing here"));

/** The services of an engine that may be killed at any moment. */
export async function servicesOf(database: Database, model: StreamingModel): Promise<Services> {
  // A killed process would not store the code that V8 compiled, and the next process would compile it again.
  setImmediate(flushCompileCache);
  return {
    database,
    clock: systemClock,
    log: silent,
    admission: new Admission({ clock: systemClock, log: silent }),
    cipher: await createCipher([new Uint8Array(32).fill(7)]),
    assets: shippedAssets,
    machine: unexamined,
    passwords: { hash: refuse, verify: refuse, verifyBcrypt: refuse },
    scripts: { run: refuse },
    tracer: untraced,
    policies: new CurrentPolicies(),
    notify: localNotify(silent),
    activity: new ActivityBus({ clock: systemClock, log: silent }),
    agentSecrets: new AgentSecrets(),
    fallbacks: new Fallbacks(systemClock),
    meters: unmeasured,
    egress: { request: async ({ url }) => ({ status: 200, headers: {}, body: "looked up", url }) },
    messengers: {
      account() {
        throw new Error("There is nobody here");
      },
    },
    mcp: { list: refuse, call: refuse, forget: () => {}, close: async () => {} },
    plugins: [],
    files: memoryFiles(),
    mailer: { send: refuse },
    models: { resolve: async () => model },
    options: {
      version: "0.0.0",
      edition: openEdition,
      trustProxy: 1,
      chatRequestsPerMinute: 20,
      baseUrl: "http://localhost:4000",
      environmentKeys: new Map(),
      soleProcess: false,
      allowStdioMcp: false,
    },
  };
}
