import { createApp, describe } from "./app.ts";
import { type Services, systemCtx } from "./context/ctx.ts";
import type { Contribution, Ticks } from "./contribution.ts";
import type { Engine } from "./engine/interface.ts";
import {
  accountFeature,
  bootstrapOwner,
  changePlatformAdmin,
  issueSetupToken,
  ownerExists,
  resetPassword,
} from "./features/account/index.ts";
import { activityFeature } from "./features/activity/index.ts";
import { agentsFeature, type BeforeDelete } from "./features/agents/index.ts";
import { analyticsFeature } from "./features/analytics/index.ts";
import { auditFeature } from "./features/audit/index.ts";
import { bundlesFeature } from "./features/bundles/index.ts";
import { channelsFeature, createQuickstartAgent, quickstartAgent } from "./features/channels/index.ts";
import { createChat } from "./features/chat/index.ts";
import { conversationsFeature } from "./features/conversations/index.ts";
import { filesFeature } from "./features/files/index.ts";
import { handoffFeature } from "./features/handoff/index.ts";
import { healthFeature, inspect } from "./features/health/index.ts";
import { hooksFeature } from "./features/hooks/index.ts";
import { continuedReplies, inboxFeature } from "./features/inbox/index.ts";
import { installationFeature } from "./features/installation/index.ts";
import { mailFeature } from "./features/mail/index.ts";
import { memoriesFeature } from "./features/memories/index.ts";
import { metricsFeature } from "./features/metrics/index.ts";
import { issueOperatorKey, organizationsFeature } from "./features/organizations/index.ts";
import { promptsFeature } from "./features/prompts/index.ts";
import { defaultProvider, providerProblems, providersFeature } from "./features/providers/index.ts";
import { retentionFeature } from "./features/retention/index.ts";
import { continuedInRoom, createSchedulerState, roomFeature } from "./features/room/index.ts";
import {
  forgetSecrets,
  inspectSecrets,
  rotateSecrets,
  secretsFeature,
  verifyEncryptionKey,
} from "./features/secrets/index.ts";
import { skillsFeature } from "./features/skills/index.ts";
import { continuedRun, runJob, tasksFeature } from "./features/tasks/index.ts";
import { toolsFeature } from "./features/tools/index.ts";
import { tracingFeature } from "./features/tracing/index.ts";
import { answeringModel, createTurns } from "./features/turns/index.ts";
import { usersFeature } from "./features/users/index.ts";
import { createHealth } from "./http/health.ts";
import { createOpening } from "./http/opening.ts";
import type { JobKinds } from "./jobs/attempt.ts";
import { endLeases, Heartbeat } from "./jobs/heartbeat.ts";
import { deleteOldRows } from "./jobs/old-rows.ts";
import { createSchedule } from "./jobs/schedule.ts";
import { createWorker } from "./jobs/worker.ts";

export type { Engine, OwnerAccount, Quickstart, QuickstartRequest } from "./engine/interface.ts";
/** The columns of model settings, which the command line's files of agents and skills use too. */
export { modelColumns } from "./features/agents/index.ts";
export { Bundle as AgentBundle, unknownFields } from "./features/bundles/index.ts";
/** The database checks of `doctor`. */
export { checkContent, checkDatabase } from "./features/health/index.ts";
export { placeHooks } from "./features/hooks/index.ts";
export { isDefaultPrompt } from "./features/prompts/index.ts";
export { placeDefinitions } from "./features/room/index.ts";
export { ImportedSkill, skillSlugOf } from "./features/skills/index.ts";

/** How long after a start the first jobs begin, in milliseconds. */
const firstJobsMs = 2_000;

/** How long a stop waits for trace collectors, in milliseconds. */
const longestFlushMs = 5_000;

/** Builds the engine from all features and the given services. */
export function createEngine(services: Services): Engine {
  // Filled below: `createTurns` needs the tools and observers of features that are created after it.
  const features: Contribution[] = [];
  let observers: Required<Contribution>["observers"] = [];
  const heartbeat = new Heartbeat(services);
  const turns = createTurns(services, {
    heartbeat,
    toolSources: () => features.flatMap(({ tools }) => tools ?? []),
    observers: () => observers,
    onWork: (at) => worker.wake(at),
    continuedBy: async (place) => ({
      ...continuedReplies(place),
      ...(await continuedRun(services)(place)),
      ...(await continuedInRoom({ services, wake: (at) => worker.wake(at) })(place)),
    }),
  });
  const { complete, embedderOf } = turns;
  const chat = createChat(services, turns);
  const tracing = tracingFeature(services);
  const opening = createOpening(services);
  const scheduler = createSchedulerState({
    services,
    schedule: () => schedule,
    running: (kind) => worker.running(kind),
    taskKind: runJob.kind,
  });
  const health = createHealth(services, opening);
  const beforeDelete: BeforeDelete = async (tx, agentId) => {
    for (const { beforeAgentDelete } of features) await beforeAgentDelete?.(tx, agentId);
  };
  // In the order of the OpenAPI document.
  features.push(
    turns.contribution,
    chat.doors,
    { routes: [health.routes] },
    metricsFeature(services),
    accountFeature(services),
    organizationsFeature(services, beforeDelete),
    usersFeature,
    agentsFeature({ beforeDelete, warningsOf: tracing.warningsOf, providerProblems, defaultProvider }),
    bundlesFeature((at) => worker.wake(at)),
    tracing,
    promptsFeature,
    secretsFeature(services),
    skillsFeature,
    channelsFeature(services, { onWork: () => worker.wake() }),
    inboxFeature({ services, turns, heartbeat, wake: (at) => worker.wake(at) }),
    roomFeature({ services, turns, wake: (at) => worker.wake(at), scheduler }),
    tasksFeature({ services, turns, wake: (at) => worker.wake(at) }),
    installationFeature(services),
    // After the secrets and the policies, which its start reads.
    providersFeature(services),
    mailFeature,
    healthFeature({ services, scheduler: scheduler.read }),
    auditFeature(services),
    analyticsFeature(services),
    toolsFeature(services),
    hooksFeature,
    memoriesFeature({ services, complete, embedderOf }),
    // Before the conversations, since the deletion of an agent's files locks the agent.
    filesFeature(services),
    conversationsFeature({ services, complete }),
    activityFeature(services, turns),
    handoffFeature(services, turns),
    retentionFeature({
      services,
      retained: () => features.flatMap(({ retained }) => retained ?? []),
      erasers: () => features.flatMap(({ erase }) => erase ?? []),
    }),
    chat.signedIn,
  );
  observers = features.flatMap((feature) => feature.observers ?? []);
  const routes = features.flatMap((feature) => feature.routes ?? []);
  const app = createApp(services, routes, opening);
  const worker = createWorker({ ...services, heartbeat }, allJobs(features));
  const schedule = createSchedule({
    ...services,
    sources: features.flatMap(({ due }) => due ?? []),
    wake: () => worker.wake(),
  });
  const ticks = (which: keyof Ticks) => features.flatMap(({ ticks }) => ticks?.[which] ?? []);
  const deletions = deleteOldRows(
    services,
    features.flatMap(({ oldRows }) => oldRows ?? []),
  );

  return {
    app,
    holdUntil: opening.holdUntil,
    async boot({ owner }) {
      if (services.options.soleProcess) await endLeases(services.database);
      else heartbeat.waitForOthers();
      for (const { boot } of features) await boot?.();
      if (owner) await bootstrapOwner(services, owner);
      const setupToken = (await ownerExists(services)) ? null : await issueSetupToken(services);
      // The first requests come before work that has been due for a while.
      worker.wake(services.clock.now() + firstJobsMs);
      return { setupToken };
    },
    async quickstart({ email, password, slug, model, newKey }) {
      const wanted = { slug, newKey, ...(model === undefined ? {} : { model }) };
      // A generated password is shown only with the agent: invalid settings must fail before there is an owner.
      quickstartAgent(wanted);
      const { userId, organizationId, organizationSlug, created } = await bootstrapOwner(services, { email, password });
      const ctx = systemCtx(services, { organizationId, organizationSlug, first: true }, "quickstart");
      const agent = await createQuickstartAgent(ctx, wanted, (made) => answeringModel(services, made));
      services.log.debug({ userId }, "Quickstart is ready");
      return { ...agent, ownerCreated: created };
    },
    async rotateKey() {
      await verifyEncryptionKey(services);
      const resealed = await rotateSecrets(services);
      return { resealed, total: (await inspectSecrets(services)).sealed };
    },
    forgetSecrets: (mayDrop) => forgetSecrets(services, mayDrop),
    resetPassword: (email) => resetPassword(services, email),
    changePlatformAdmin: (email, value) => changePlatformAdmin(services, email, value),
    async operator(name, slug) {
      // A command renews no leases, so the work that it leaves is done by the server.
      await worker.stop(0);
      const { organization, key, revoke } = await issueOperatorKey(services, name, slug);
      const call: typeof fetch = async (input, init) =>
        app.fetch(new Request(input, init), { remoteAddress: "127.0.0.1" });
      return { organization, key, fetch: call, close: revoke };
    },
    inspect: () => inspect(services),
    renewLeases: () => heartbeat.beat(),
    closeRevoked: () => allOf(ticks("often")),
    tick: () => allOf([...ticks("seldom"), ...deletions, schedule.tick, worker.tick]),
    drain: health.drain,
    async stop(graceMs) {
      health.drain();
      const stopFeatures = async () => {
        for (const { stop } of features) await stop?.(graceMs);
      };
      await Promise.all([stopFeatures(), worker.stop(graceMs)]);
      await services.tracer.close(Math.min(graceMs, longestFlushMs));
      await services.mcp.close();
      await services.notify.close();
    },
    document: () => describe(routes),
  };
}

/** The job handlers of all features. Throws when two of them handle the same kind. */
function allJobs(features: readonly Contribution[]): JobKinds {
  const all = features.flatMap(({ jobs }) => Object.entries(jobs ?? {}));
  const merged = Object.fromEntries(all);
  if (Object.keys(merged).length < all.length) throw new Error("Two features contribute jobs of the same kind");
  return merged;
}

/** Runs all works one after the other, even after a failure; then rejects with the first failure. */
async function allOf(works: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) await work().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
