import type { Ctx } from "../../../context/ctx.ts";
import { write } from "../../../context/write.ts";
import { lackOf } from "../../../core/models/facts.ts";
import { explainProvider } from "../../../core/models/provider-failure.ts";
import type { ModelList, ProviderSettings } from "../../../core/ports.ts";
import { withinTime } from "../../../core/time/deadline.ts";
import { pause } from "../../../core/time/pause.ts";
import { type ConnectionRow, toKnown } from "./rules.ts";
import type { ConnectionTest } from "./schema.ts";
import { findConnection, findHome, openKey } from "./store.ts";

/** How long a provider may take to answer, in milliseconds. */
const longestMs = 5_000;

/** The same for every address without an answer: the caller learns nothing of hosts and ports. */
const unreached = "The address can't be reached";

/**
 * Requests the provider's list of models with the stored address and key, and stores nothing but an audit entry. Throws
 * the connection's 404.
 */
export async function testConnection(ctx: Ctx, slug: string | null, id: string): Promise<ConnectionTest> {
  const home = await findHome(ctx, slug);
  const row = await findConnection(ctx.db, ctx, home, id);
  const result = await callProvider(ctx, row);
  // The target of an entry about an agent is its slug.
  const target = slug ?? row.name;
  const summary = { id, name: row.name, ...result };
  const change = { action: "provider-connection.test", target, summary, agentUnchanged: true };
  await write(ctx, { ...change, ...(home ? { agentId: home.id } : {}) }, async () => {});
  return result;
}

async function callProvider(ctx: Ctx, row: ConnectionRow): Promise<ConnectionTest> {
  const { clock } = ctx;
  const key = await openKey(ctx, row);
  if (lackOf({ ...toKnown(row), hasKey: key !== null, enabled: true })) return failed("The connection has no key");
  if (row.provider === "demo") return { ok: true, latencyMs: 0, error: null };
  const began = clock.now();
  const list = await listWithin(ctx, settingsOf(ctx, row, key));
  if (list === null) {
    const left = began + longestMs - clock.now();
    // Never earlier: the time would tell a closed port from a silent host.
    if (left > 0) await pause(clock, left);
    return failed(unreached);
  }
  const latencyMs = clock.now() - began;
  return "models" in list
    ? { ok: true, latencyMs, error: null }
    : { ok: false, latencyMs, error: explainProvider(list) };
}

const failed = (error: string): ConnectionTest => ({ ok: false, latencyMs: null, error });

function settingsOf({ policies }: Ctx, { provider, baseUrl }: ConnectionRow, key: string | null): ProviderSettings {
  const apiKey = key ?? undefined;
  if (baseUrl === null) return { provider, baseUrl: undefined, apiKey };
  return { provider, baseUrl, apiKey, allowedHosts: policies.values.httpAllowedHosts };
}

/** The provider's response; null without one over HTTP. */
async function listWithin({ models, clock, log }: Ctx, settings: ProviderSettings): Promise<ModelList | null> {
  try {
    return await withinTime(clock, longestMs, new Error(unreached), async (signal) => {
      return (await models.list?.(settings, signal)) ?? null;
    });
  } catch (err) {
    log.debug({ err, provider: settings.provider }, "The test of a connection got no answer");
    return null;
  }
}
