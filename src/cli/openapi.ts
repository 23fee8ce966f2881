import { createModels } from "../adapters/models/index.ts";
import { systemClock } from "../adapters/node/clock.ts";
import { createLog } from "../adapters/node/log/log.ts";
import { ActivityBus } from "../core/activity/bus.ts";
import { createCipher } from "../core/credentials/cipher.ts";
import { passwords } from "../core/credentials/password.ts";
import { Admission } from "../core/limits/admission.ts";
import { unexamined } from "../core/machine.ts";
import { unmeasured } from "../core/meters.ts";
import { Fallbacks } from "../core/models/fallbacks.ts";
import { localNotify } from "../core/notify.ts";
import { CurrentPolicies } from "../core/policies.ts";
import { AgentSecrets } from "../core/scrub/agent-secrets.ts";
import { untraced } from "../core/tracing.ts";
import { createEngine } from "../engine.ts";
import { print } from "./print.ts";
import { unserved } from "./unserved.ts";

const nobody = () => {
  throw new Error("The document is made without messengers");
};

const unused = async (): Promise<never> => {
  throw new Error("A description needs no database");
};

/** Prints the OpenAPI document. */
export async function printApi(): Promise<void> {
  await print(`${JSON.stringify(await describeApi(), null, 2)}\n`);
}

/** The OpenAPI document, made without settings and database. */
async function describeApi(): Promise<object> {
  const log = createLog({ level: "silent", pretty: false, secrets: [] });
  const engine = createEngine({
    database: {
      get db(): never {
        throw new Error("A description needs no database");
      },
      query: unused,
      transaction: unused,
      isUsable: () => false,
      use: () => ({ open: 0, busy: 0, waiting: 0, lost: { closed: 0, late: 0, silent: 0, read_only: 0 } }),
      close: async () => {},
    },
    cipher: await createCipher([new Uint8Array(32)]),
    clock: systemClock,
    log,
    admission: new Admission({ clock: systemClock, log: log }),
    models: createModels(),
    egress: { request: unused },
    mailer: { send: unused },
    files: { directory: null, s3: () => ({ put: unused, get: unused, delete: unused, link: null }) },
    messengers: { account: nobody },
    mcp: { list: unused, call: unused, forget: () => {}, close: async () => {} },
    plugins: [],
    assets: { read: unused },
    machine: unexamined,
    passwords,
    scripts: { run: unused },
    tracer: untraced,
    policies: new CurrentPolicies(),
    notify: localNotify(log),
    activity: new ActivityBus({ clock: systemClock, log }),
    agentSecrets: new AgentSecrets(),
    fallbacks: new Fallbacks(systemClock),
    meters: unmeasured,
    options: unserved,
  });
  return engine.document();
}
