import { audit } from "../../context/audit.ts";
import type { Services } from "../../context/ctx.ts";
import { TtlCache } from "../../core/cache.ts";
import { type Fallback, labelOf } from "../../core/models/fallbacks.ts";
import { countCall } from "../../db/throttle.ts";

/** The audit log gets at most one entry a connection and minute. */
const perMinute = { calls: 1, windowMs: 60_000 };

/** Counts fallbacks in the metrics, and writes them into the audit log. No turn waits for that. */
export function noteFallbacks(services: Services): void {
  const { fallbacks, meters, clock, log } = services;
  const count = meters.counter({
    name: "agent_engine_provider_fallbacks_total",
    help: "Model calls that went to the next model of an agent's list, by the code of the failure before it.",
    labels: ["from_provider", "to_provider", "code"],
  });
  // Spares the database a statement for each fallback of a connection that fails.
  const noted = new TtlCache<true>({ ttlMs: perMinute.windowMs, now: () => clock.now() });
  fallbacks.listen((fallback) => {
    const { from, to, code } = fallback;
    count({ from_provider: from.provider, to_provider: to.provider, code });
    const key = from.connectionId ?? `${fallback.agent.id}:${labelOf(from)}`;
    if (noted.get(key)) return;
    noted.set(key, true);
    record(services, fallback, key).catch((err: unknown) => log.error({ err }, "A fallback was not audited"));
  });
}

async function record(services: Services, { agent, requestId, from, to, code }: Fallback, key: string): Promise<void> {
  const { allowed } = await countCall(services, `fallback:${key}`, perMinute);
  if (!allowed) return;
  await audit(services.database.db, {
    action: "provider.fallback",
    target: agent.slug,
    agentId: agent.id,
    organizationId: agent.organizationId,
    actor: { type: "system", id: null, name: "fallback" },
    request: { id: requestId, ip: "" },
    summary: { from: labelOf(from), to: labelOf(to), code },
  });
}
