import { existsSync } from "node:fs";
import { join } from "node:path";
import { createMessengers } from "../../adapters/messengers/index.ts";
import { createModels } from "../../adapters/models/index.ts";
import { shippedAssets } from "../../adapters/node/assets.ts";
import { systemClock } from "../../adapters/node/clock.ts";
import { hasEmbedded } from "../../adapters/node/data-directory.ts";
import { isDirectoryInUse } from "../../adapters/node/directory-lock.ts";
import { createEgress } from "../../adapters/node/egress/request.ts";
import { loadEncryptionKeys } from "../../adapters/node/encryption-keys.ts";
import { createLog } from "../../adapters/node/log.ts";
import { createMcp } from "../../adapters/node/mcp/servers.ts";
import { threadedScripts } from "../../adapters/node/scripts/pool.ts";
import { openUnchanged, type UnchangedStorage } from "../../adapters/node/unchanged.ts";
import { createS3 } from "../../adapters/s3.ts";
import { ActivityBus } from "../../core/activity/bus.ts";
import { Admission } from "../../core/admission/admission.ts";
import { createCipher } from "../../core/cipher.ts";
import type { Settings } from "../../core/config.ts";
import { unmeasured } from "../../core/meters.ts";
import { localNotify } from "../../core/notify.ts";
import { passwords } from "../../core/password.ts";
import { CurrentPolicies } from "../../core/policies.ts";
import { untraced } from "../../core/tracing.ts";
import { createEngine, type Inspection } from "../../engine.ts";
import { command } from "../command-name.ts";
import { explain } from "../explain.ts";
import { unserved } from "../unserved.ts";
import { type Check, fail, ok, warn } from "./check.ts";
import { checkJobs } from "./jobs.ts";
import { checkMessages } from "./messages.ts";
import { checkAgentKeys, checkPolicies } from "./policies.ts";

export interface StorageReport {
  checks: Check[];
  /** The policy `publicAddress`: null when it is not set, absent when it could not be read. */
  publicAddress?: string | null;
  /** The policy `defaultModel`, likewise. */
  defaultModel?: string | null;
}

/**
 * Checks database, migrations, encryption key, owner and weak settings. `running` is the address of the server that
 * answers on this machine, or null.
 */
export async function checkStorage(settings: Settings, running: string | null): Promise<StorageReport> {
  if (settings.DATABASE_URL === undefined && !hasEmbedded(settings)) {
    const checks = [ok("database", "Embedded; the first start makes it, and its encryption key")];
    return { checks, publicAddress: null };
  }
  try {
    const storage = await openUnchanged(settings, { clock: systemClock, log: silent() });
    try {
      const { checks, ...content } = await checkContent(settings, storage);
      return { checks: [checkDatabase(settings, storage), ...checks], ...content };
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (isDirectoryInUse(error)) return { checks: await checkHolder(settings, running) };
    return { checks: [fail("database", explain(error).join(" "))] };
  }
}

/** Nothing is logged: the checks report everything. */
const silent = () => createLog({ level: "silent", pretty: false, secrets: [] });

/** Checks whether a server holds the embedded database and can use it: that server has checked it at its start. */
async function checkHolder({ DATA_DIR }: Settings, running: string | null): Promise<Check[]> {
  if (running === null) {
    const advice = "if it listens elsewhere, run this with its PORT; if it hangs, end it";
    return [fail("database", `A process holds the embedded one in ${DATA_DIR}, but no server answers: ${advice}`)];
  }
  if (!(await answersFromDatabase(running))) {
    const advice =
      "see its log, and whether the disk of DATA_DIR is full; it goes on by itself when the database works";
    return [fail("database", `Embedded, held by the server at ${running}, which can't use it: ${advice}`)];
  }
  return [
    ok("database", `Embedded, held by the server at ${running}`),
    ok("migrations", "Applied by that server when it started"),
    ok("encryption key", "Checked by that server when it started"),
    warn(
      "policies",
      "Not examined, nor keys, agents, background work and messages: stop that server to have them examined",
    ),
  ];
}

/** Asks a server what it can answer from its database only: whose key this is. */
async function answersFromDatabase(running: string): Promise<boolean> {
  const headers = { Authorization: "Bearer doctor" };
  const asked = fetch(`${running}/v1/models`, { headers, signal: AbortSignal.timeout(20_000) });
  return asked.then(
    async (response) => {
      await response.body?.cancel();
      return response.status !== 503;
    },
    (error: unknown) => !(error instanceof Error && error.name === "TimeoutError"),
  );
}

function checkDatabase({ DATABASE_URL }: Settings, storage: UnchangedStorage): Check {
  const server = `PostgreSQL ${Math.floor(storage.version / 10_000)}.${storage.version % 10_000}`;
  if (DATABASE_URL === undefined) return ok("database", `Embedded, ${server}`);
  return ok("database", `${server} at ${URL.parse(DATABASE_URL)?.host || "DATABASE_URL"}`);
}

async function checkContent(settings: Settings, storage: UnchangedStorage): Promise<StorageReport> {
  const { pending } = storage;
  if (pending > 0) {
    const count = `${pending} ${pending === 1 ? "migration is" : "migrations are"}`;
    return { checks: [warn("migrations", `${count} not applied: start the server, or run ${command} migrate`)] };
  }
  const { checks, ...secrets } = await checkSecrets(settings, storage);
  return { checks: [ok("migrations", "All applied"), ...checks], ...secrets };
}

async function checkSecrets(settings: Settings, { database }: UnchangedStorage): Promise<StorageReport> {
  const { ENCRYPTION_KEY, DATA_DIR } = settings;
  const file = join(DATA_DIR, "encryption.key");
  // `loadEncryptionKeys` would make a new key, which opens none of the stored secrets.
  if (ENCRYPTION_KEY === undefined && !existsSync(file)) {
    return {
      checks: [fail("encryption key", `${file} is missing: restore it, or set ENCRYPTION_KEY to what it held`)],
    };
  }
  try {
    const engine = createEngine({
      database,
      cipher: await createCipher(await loadEncryptionKeys(settings)),
      clock: systemClock,
      log: silent(),
      admission: new Admission({ clock: systemClock, log: silent() }),
      models: createModels(),
      egress: createEgress({ clock: systemClock }),
      messengers: createMessengers({ clock: systemClock }),
      mcp: createMcp({ clock: systemClock, log: silent(), environment: {} }),
      plugins: [],
      files: { directory: null, s3: createS3({ clock: systemClock }) },
      assets: shippedAssets,
      passwords,
      scripts: threadedScripts({ clock: systemClock, log: silent() }),
      tracer: untraced,
      policies: new CurrentPolicies(),
      notify: localNotify(silent()),
      activity: new ActivityBus({ clock: systemClock, log: silent() }),
      meters: unmeasured,
      options: unserved,
    });
    const { secrets, owned, settings: stored, jobs, messages } = await engine.inspect();
    const owner = owned
      ? ok("owner", "There is one")
      : warn("owner", "Nobody owns this installation yet: start the server and open the link that it prints");
    const { publicAddress, defaultModel } = stored.policies;
    return {
      checks: [
        ...[checkKey(secrets), ...shortSecrets(secrets), owner, ...checkPolicies(stored)],
        ...[...checkAgentKeys(secrets), checkJobs(jobs), checkMessages(messages)],
      ],
      ...{ publicAddress, defaultModel },
    };
  } catch (error) {
    return { checks: [fail("encryption key", explain(error).join(" "))] };
  }
}

function checkKey({ key, sealed, older }: Inspection["secrets"]): Check {
  const name = "encryption key";
  if (key === "wrong") {
    const advice = "set that one, or name it in ENCRYPTION_KEY_PREVIOUS";
    return fail(name, `Not the key that this database's secrets were sealed with: ${advice}`);
  }
  if (key === "unused") return ok(name, "Nothing is sealed yet");
  if (older > 0)
    return warn(name, `${older} of ${sealed} values are sealed with an earlier key: run ${command} rotate-key`);
  return ok(name, `Opens what is stored; ${sealed} ${sealed === 1 ? "value is" : "values are"} sealed with it`);
}

function shortSecrets({ short }: Inspection["secrets"]): Check[] {
  if (short.length === 0) return [];
  const named = short.slice(0, 10).join(", ") + (short.length > 10 ? ` and ${short.length - 10} more` : "");
  return [
    warn(
      "secrets",
      `Too short to be kept out of replies, in ${named}: store secrets and variables of at least 6 characters instead`,
    ),
  ];
}
