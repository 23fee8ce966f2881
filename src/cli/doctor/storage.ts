import { existsSync } from "node:fs";
import { join } from "node:path";
import { createMessengers } from "../../adapters/messengers/index.ts";
import { createModels } from "../../adapters/models/index.ts";
import { systemClock } from "../../adapters/node/clock.ts";
import { hasEmbedded } from "../../adapters/node/data/data-directory.ts";
import { isDirectoryInUse } from "../../adapters/node/data/directory-lock.ts";
import { loadEncryptionKeys } from "../../adapters/node/data/encryption-keys.ts";
import { createEgress } from "../../adapters/node/egress/request.ts";
import { createLog } from "../../adapters/node/log/log.ts";
import { databaseHost } from "../../adapters/node/machine/machine.ts";
import { smtpMailer } from "../../adapters/node/mailer.ts";
import { createMcp } from "../../adapters/node/mcp/servers.ts";
import { threadedScripts } from "../../adapters/node/scripts/pool.ts";
import { shippedAssets } from "../../adapters/node/shipped.ts";
import { openUnchanged, type UnchangedStorage } from "../../adapters/node/unchanged.ts";
import { createS3 } from "../../adapters/s3.ts";
import { ActivityBus } from "../../core/activity/bus.ts";
import { type Check, fail, ok, warn } from "../../core/check.ts";
import type { Settings } from "../../core/config.ts";
import { createCipher } from "../../core/credentials/cipher.ts";
import { passwords } from "../../core/credentials/password.ts";
import { Admission } from "../../core/limits/admission.ts";
import { unexamined } from "../../core/machine.ts";
import { unmeasured } from "../../core/meters.ts";
import { Fallbacks } from "../../core/models/fallbacks.ts";
import { localNotify } from "../../core/notify.ts";
import { CurrentPolicies } from "../../core/policies.ts";
import { AgentSecrets } from "../../core/scrub/agent-secrets.ts";
import { untraced } from "../../core/tracing.ts";
import { checkContent, checkDatabase, createEngine } from "../../engine.ts";
import { command, notApplied } from "../command-name.ts";
import { explain } from "../explain.ts";
import { unserved } from "../unserved.ts";

export interface StorageReport {
  checks: Check[];
  /** The policy `publicAddress`: null when unset, absent when it could not be read. */
  publicAddress?: string | null;
  /** The policy `defaultModel`: null when unset, absent when it could not be read. */
  defaultModel?: string | null;
}

/**
 * Checks database, migrations, encryption key, owner and weak settings. `running` is the address of the running server
 * on this machine, or null.
 */
export async function checkStorage(settings: Settings, running: string | null): Promise<StorageReport> {
  if (settings.DATABASE_URL === undefined && !hasEmbedded(settings)) {
    const checks = [ok("database", "Embedded; the first start makes it, and its encryption key")];
    return { checks, publicAddress: null };
  }
  try {
    const storage = await openUnchanged(settings, { clock: systemClock, log: silent() });
    try {
      const { checks, ...content } = await checkSchema(settings, storage);
      return { checks: [checkDatabase(storage.version, databaseHost(settings.DATABASE_URL)), ...checks], ...content };
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (isDirectoryInUse(error)) return { checks: await checkHolder(settings, running) };
    return { checks: [fail("database", explain(error).join(" "))] };
  }
}

/** A log that writes nothing, since the checks report everything. */
const silent = () => createLog({ level: "silent", pretty: false, secrets: [] });

/**
 * Checks whether a server has the embedded database open and can use it. That server ran the other checks when it started.
 */
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

/** Whether a server can look up an unknown key, which needs its database. */
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

async function checkSchema(settings: Settings, storage: UnchangedStorage): Promise<StorageReport> {
  const { pending } = storage;
  if (pending > 0) return { checks: [warn("migrations", notApplied(pending))] };
  const { checks, ...policies } = await openContent(settings, storage);
  return { checks: [ok("migrations", "All applied"), ...checks], ...policies };
}

async function openContent(settings: Settings, { database }: UnchangedStorage): Promise<StorageReport> {
  const { ENCRYPTION_KEY, DATA_DIR } = settings;
  const file = join(DATA_DIR, "encryption.key");
  // Checked first: `loadEncryptionKeys` would make a new key, which opens no stored secret.
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
      mailer: smtpMailer(),
      assets: shippedAssets,
      machine: unexamined,
      passwords,
      scripts: threadedScripts({ clock: systemClock, log: silent() }),
      tracer: untraced,
      policies: new CurrentPolicies(),
      notify: localNotify(silent()),
      activity: new ActivityBus({ clock: systemClock, log: silent() }),
      agentSecrets: new AgentSecrets(),
      fallbacks: new Fallbacks(systemClock),
      meters: unmeasured,
      options: unserved,
    });
    const inspection = await engine.inspect();
    const { publicAddress, defaultModel } = inspection.settings.policies;
    return { checks: checkContent(inspection, command), publicAddress, defaultModel };
  } catch (error) {
    return { checks: [fail("encryption key", explain(error).join(" "))] };
  }
}
