import { join } from "node:path";
import { createMessengers } from "./adapters/messengers/index.ts";
import { createModels } from "./adapters/models/index.ts";
import { systemClock } from "./adapters/node/clock.ts";
import { directoryStore } from "./adapters/node/data/directory-store.ts";
import { loadEncryptionKeys } from "./adapters/node/data/encryption-keys.ts";
import { guardedFetch } from "./adapters/node/egress/fetch.ts";
import { createEgress } from "./adapters/node/egress/request.ts";
import { readFont } from "./adapters/node/fonts.ts";
import { bootSecrets, createLog } from "./adapters/node/log/log.ts";
import { thisMachine } from "./adapters/node/machine/machine.ts";
import { smtpMailer } from "./adapters/node/mailer.ts";
import { createMcp } from "./adapters/node/mcp/servers.ts";
import { threadedPasswords } from "./adapters/node/password/thread.ts";
import { type InstalledPlugins, loadPlugins } from "./adapters/node/plugins.ts";
import { pooledPost } from "./adapters/node/post/post.ts";
import { explainBoot, postgresTarget } from "./adapters/node/postgres-target.ts";
import { threadedScripts } from "./adapters/node/scripts/pool.ts";
import { type Listener, listen } from "./adapters/node/server.ts";
import { shippedAssets } from "./adapters/node/shipped.ts";
import { openStorage, type Storage, startStorage } from "./adapters/node/storage.ts";
import { postgresNotify } from "./adapters/notify/postgres.ts";
import { createS3 } from "./adapters/s3.ts";
import { createTracer } from "./adapters/tracer/tracer.ts";
import { ActivityBus } from "./core/activity/bus.ts";
import { localAddress } from "./core/addresses.ts";
import { type Environment, environmentKeys, parseSettings, retiredSettings, type Settings } from "./core/config.ts";
import { createCipher } from "./core/credentials/cipher.ts";
import { editionOf } from "./core/edition.ts";
import { unfinishedAnswers } from "./core/egress/unfinished.ts";
import type { StartError } from "./core/errors.ts";
import { Admission } from "./core/limits/admission.ts";
import { type Meters, unmeasured } from "./core/meters.ts";
import { Fallbacks } from "./core/models/fallbacks.ts";
import { localNotify } from "./core/notify.ts";
import { CurrentPolicies } from "./core/policies.ts";
import type { Log, Notify } from "./core/ports.ts";
import { AgentSecrets } from "./core/scrub/agent-secrets.ts";
import { pause } from "./core/time/pause.ts";
import { repeat } from "./core/time/repeat.ts";
import { operatorCollector } from "./core/tracing.ts";
import { version } from "./core/version.ts";
import { createEngine, type Engine, type OwnerAccount } from "./engine.ts";
import { shippedPlugins } from "./plugins/index.ts";

const renewalMs = 5_000;
const upkeepMs = 10_000;
const revocationMs = 2_000;

/** How long a stop waits for running upkeep, in milliseconds, so that the database is not closed during it. */
const longestUpkeepMs = 2_000;

/** The parts of a start that need neither a port nor a database. */
export interface Setup {
  environment: Environment;
  settings: Settings;
  log: Log;
}

/**
 * Reads the settings and opens the log. Warns of retired variables. Throws a `ConfigError` that lists every problem.
 */
export function prepare(environment: Environment, { terminal }: { terminal: boolean }): Setup {
  const settings = parseSettings(environment);
  const log = createLog({ level: settings.LOG_LEVEL, pretty: terminal, secrets: bootSecrets(environment) });
  for (const warning of retiredSettings(environment)) log.warn({}, warning);
  return { environment, settings, log };
}

export interface OpenEngine {
  engine: Engine;
  close(): Promise<void>;
}

/**
 * Opens the engine on this machine's ports. Applies missing migrations; with `refuseOlder`, rejects with that error
 * instead. Rejects with a `StartError` for a database that can't be used.
 */
export async function openEngine(
  setup: Setup,
  baseUrl: string,
  refuseOlder?: (pending: number) => StartError,
): Promise<OpenEngine> {
  return assembleEngine(setup, baseUrl, (settings, ports) => openStorage(settings, { ...ports, refuseOlder }));
}

interface AssembledEngine extends OpenEngine {
  /** Resolves when the database is open. */
  ready: Promise<void>;
}

async function assembleEngine(
  { environment, settings, log }: Setup,
  baseUrl: string,
  open: typeof openStorage,
): Promise<AssembledEngine> {
  const cipher = await createCipher(await loadEncryptionKeys(settings));
  const storage = await open(settings, { clock: systemClock, log });
  const notify = openNotify(settings, storage.database, log);
  const close = async () => {
    await notify.close();
    await storage.close();
  };
  try {
    const plugins = await openPlugins(settings, log);
    const unfinished = unfinishedAnswers();
    const engine = createEngine({
      database: storage.database,
      cipher,
      clock: systemClock,
      log,
      admission: new Admission({ clock: systemClock, log }),
      models: createModels({ post: pooledPost(), guarded: guardedFetch() }),
      egress: createEgress({ clock: systemClock, unfinished }),
      messengers: createMessengers({
        clock: systemClock,
        bases: {
          telegram: settings.TELEGRAM_API_BASE_URL,
          slack: settings.SLACK_API_BASE_URL,
          whatsapp: settings.TWILIO_API_BASE_URL,
        },
        guarded: guardedFetch(),
      }),
      mcp: createMcp({ clock: systemClock, log, environment, unfinished }),
      plugins: [...plugins.shipped, ...plugins.loaded.map(({ plugin }) => plugin)],
      files: {
        // Not with PostgreSQL: its replicas would not see files in a directory of this machine.
        directory: settings.DATABASE_URL === undefined ? directoryStore(join(settings.DATA_DIR, "files")) : null,
        s3: createS3({ clock: systemClock, endpoint: settings.S3_ENDPOINT }),
      },
      mailer: smtpMailer(),
      assets: shippedAssets,
      machine: thisMachine({ environment, settings, plugins, local: baseUrl }),
      passwords: threadedPasswords({ clock: systemClock, log }),
      scripts: threadedScripts({ clock: systemClock, log }),
      tracer: createTracer({ clock: systemClock, log, post: pooledPost() }),
      policies: new CurrentPolicies(),
      notify,
      activity: new ActivityBus({ clock: systemClock, log }),
      agentSecrets: new AgentSecrets(),
      fallbacks: new Fallbacks(systemClock),
      meters: await openMeters(settings, log),
      options: {
        version,
        edition: editionOf(settings),
        trustProxy: settings.TRUST_PROXY,
        chatRequestsPerMinute: settings.CHAT_REQUESTS_PER_MINUTE,
        baseUrl,
        environmentKeys: environmentKeys(environment),
        soleProcess: settings.DATABASE_URL === undefined,
        allowStdioMcp: settings.ALLOW_STDIO_MCP,
        vectors: storage.vectors,
        metricsToken: settings.METRICS_TOKEN,
        panel: settings.PANEL === "on",
        collector: operatorCollector(settings, version),
      },
    });
    return { engine, ready: storage.ready, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function installedPlugins(settings: Settings): Promise<InstalledPlugins> {
  const bases = {
    github: settings.GITHUB_API_BASE_URL,
    render: settings.RENDER_API_BASE_URL,
    hubspot: settings.HUBSPOT_API_BASE_URL,
  };
  const shipped = shippedPlugins(bases, readFont);
  return { shipped, ...(await loadPlugins(settings.PLUGINS, shipped, { clock: systemClock })) };
}

/** Opens the plugins. With a broken one the server runs on, so that agents without it are not affected. */
async function openPlugins(settings: Settings, log: Log): Promise<InstalledPlugins> {
  const installed = await installedPlugins(settings);
  const { loaded, problems } = installed;
  for (const { specifier, plugin } of loaded) {
    log.info({ plugin: specifier, namespace: plugin.namespace, tools: plugin.tools.length }, "A plugin is loaded");
  }
  for (const { specifier, message } of problems) {
    log.error({ plugin: specifier, reason: message }, "A plugin of PLUGINS can't be used");
  }
  return installed;
}

/** Loads the library only with monitoring, which few installations have. */
async function openMeters({ METRICS_TOKEN }: Settings, log: Log): Promise<Meters> {
  if (METRICS_TOKEN === undefined) return unmeasured;
  const { createMeters } = await import("./adapters/node/meters.ts");
  return createMeters(log);
}

/**
 * With the embedded database, notifies within this process; with PostgreSQL, through the database, since there may be
 * replicas.
 */
function openNotify(settings: Settings, database: Storage["database"], log: Log): Notify {
  const { DATABASE_URL, DATABASE_LISTEN_URL } = settings;
  if (DATABASE_URL === undefined) return localNotify(log);
  const target = DATABASE_LISTEN_URL
    ? postgresTarget(DATABASE_LISTEN_URL, settings, "DATABASE_LISTEN_URL")
    : postgresTarget(DATABASE_URL, settings);
  return postgresNotify({ target, database, clock: systemClock, log });
}

export interface RunningServer {
  engine: Engine;
  /** The server's address on this machine, such as `http://localhost:4000`. */
  address: string;
  /** The token of the setup link, which is shown once; null when the installation has an owner. */
  setupToken: string | null;
  /** Drains, waits for running turns as long as the settings allow, then ends all connections and closes the database. */
  stop(): Promise<void>;
}

/**
 * Listens on the port, opens the engine, creates the owner if one is given, and serves requests. While the embedded
 * database opens, health checks report that, and other requests wait.
 */
export async function startServer(setup: Setup, owner?: OwnerAccount): Promise<RunningServer> {
  const { settings, log } = setup;
  const listener = await listen(settings.HOST, settings.PORT);
  const address = localAddress(settings.HOST, listener.port);
  let opened: OpenEngine | undefined;
  try {
    const { engine, ready, close } = await assembleEngine(setup, settings.BASE_URL ?? address, startStorage);
    opened = { engine, close };
    const booted = ready
      .then(() => engine.boot(owner ? { owner } : {}))
      .catch((error) => {
        throw explainBoot(error, settings);
      });
    // Behind a load balancer, a replica must not look healthy before its start has succeeded: the others may then be
    // stopped.
    if (settings.DATABASE_URL !== undefined) await booted;
    engine.holdUntil(booted);
    listener.serve(engine.app);
    const { setupToken } = await booted;
    const every = (ms: number, work: () => Promise<void>) =>
      repeat(systemClock, ms, work, (err) => log.error({ err }, "Upkeep failed"));
    const stopRenewals = every(renewalMs, () => engine.renewLeases());
    const stopTicks = every(upkeepMs, () => engine.tick());
    const stopRevocations = every(revocationMs, () => engine.closeRevoked());
    const stopUpkeep = () => within(longestUpkeepMs, Promise.all([stopRenewals(), stopTicks(), stopRevocations()]));
    log.info({ version, address, database: settings.DATABASE_URL ? "postgresql" : "embedded" }, "Listening");
    return { engine, address, setupToken, stop: stopOnce(setup, { listener, opened, stopUpkeep }) };
  } catch (error) {
    await opened?.close();
    await listener.close();
    throw error;
  }
}

interface Running {
  listener: Listener;
  opened: OpenEngine;
  stopUpkeep: () => Promise<void>;
}

function stopOnce({ settings, log }: Setup, { listener, opened, stopUpkeep }: Running): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  const stop = async () => {
    const { DRAIN_SECONDS: drainSeconds, SHUTDOWN_GRACE_SECONDS: graceSeconds } = settings;
    log.info({ drainSeconds, graceSeconds }, "Stopping");
    opened.engine.drain();
    listener.drain();
    await pause(systemClock, drainSeconds * 1000);
    await opened.engine.stop(graceSeconds * 1000);
    // Upkeep stops only now, since it renews the leases of turns that may still finish.
    await stopUpkeep();
    await listener.close();
    await opened.close();
    log.info({}, "Stopped");
  };
  return () => {
    stopped ??= stop();
    return stopped;
  };
}

/** Resolves with `work`, or after `ms` milliseconds. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((resolve) => {
    cancel = systemClock.after(ms, resolve);
  });
  await Promise.race([work, late]);
  cancel();
}
