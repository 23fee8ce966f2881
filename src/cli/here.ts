import type { Environment } from "../core/config.ts";
import { openEngine, prepare, type RunningServer, type Setup, startServer } from "../main.ts";
import { print } from "./print.ts";
import { type QuickstartOptions, quickstart, readQuickstart } from "./quickstart.ts";
import { changePlatformAdmin, forgetSecrets, resetPassword, rotateKey } from "./rescue.ts";
import { stopOnSignals } from "./signals.ts";
import type { Command } from "./verbs.ts";

/** Runs a verb that opens the engine in this process. */
export async function runHere({ name, flags, argument }: Command, environment: Environment): Promise<void> {
  const options: QuickstartOptions | undefined = name === "quickstart" ? readQuickstart(flags, environment) : undefined;
  const setup = prepare(environment, { terminal: process.stderr.isTTY === true });
  if (name === "migrate") return migrate(setup);
  if (name === "rotate-key") return rotateKey(setup, flags);
  if (name === "forget-secrets") return forgetSecrets(setup, flags);
  if (name === "reset-password") return resetPassword(setup, argument, flags);
  if (name === "platform-admin") return changePlatformAdmin(setup, argument, flags);
  await serve(setup, options);
}

async function serve(setup: Setup, options: QuickstartOptions | undefined): Promise<void> {
  const { OWNER_EMAIL: email, OWNER_PASSWORD: password, DRAIN_SECONDS, SHUTDOWN_GRACE_SECONDS } = setup.settings;
  // `quickstart` creates the owner itself, to know whether there already was one.
  const owner = !options && email && password ? { email, password } : undefined;
  const starting = startServer(setup, owner);
  stopOnSignals({
    stop: async () => (await starting).stop(),
    longestMs: (DRAIN_SECONDS + SHUTDOWN_GRACE_SECONDS) * 1000,
    log: setup.log,
    byNpm: setup.environment.npm_command !== undefined,
  });
  const server = await starting;
  if (!options) return print(invitation(server, setup));
  try {
    await print(await quickstart(server, { ...options, panel: setup.settings.PANEL === "on" }));
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function invitation({ address, setupToken }: RunningServer, { settings }: Setup): string {
  if (setupToken === null) return "";
  const base = settings.BASE_URL ?? address;
  if (settings.PANEL === "on") {
    return `There is no owner yet. Open this link to become it; it works once:\n\n  ${base}/setup?token=${setupToken}\n\n`;
  }
  const body = JSON.stringify({ token: setupToken, email: "owner@example.com", password: "…" });
  return `There is no owner yet. Become it with a call that works once:\n\n  curl ${base}/api/setup -H "Content-Type: application/json" -d '${body}'\n\n`;
}

async function migrate(setup: Setup): Promise<void> {
  const { close } = await openEngine(setup, "http://localhost");
  await close();
  await print("The database is up to date.\n");
}
