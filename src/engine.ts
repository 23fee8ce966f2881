import { type App, createApp, describe } from "./app.ts";
import { type Services, systemCtx } from "./context/ctx.ts";
import type { Contribution, Ticks } from "./contribution.ts";
import {
  accountFeature,
  bootstrapOwner,
  issueSetupToken,
  ownerExists,
  type PasswordReset,
  resetPassword,
} from "./features/account/index.ts";
import { activityFeature } from "./features/activity/index.ts";
import { agentsFeature } from "./features/agents/index.ts";
import { analyticsFeature } from "./features/analytics/index.ts";
import { auditFeature } from "./features/audit/index.ts";
import { bundlesFeature } from "./features/bundles/index.ts";
import {
  channelsFeature,
  createQuickstartAgent,
  type QuickstartAgent,
  quickstartAgent,
} from "./features/channels/index.ts";
import { createChat } from "./features/chat/index.ts";
import { conversationsFeature } from "./features/conversations/index.ts";
import { filesFeature } from "./features/files/index.ts";
import { handoffFeature } from "./features/handoff/index.ts";
import { healthFeature, type Inspection, inspect } from "./features/health/index.ts";
import { hooksFeature } from "./features/hooks/index.ts";
import { continuedReplies, inboxFeature } from "./features/inbox/index.ts";
import { installationFeature } from "./features/installation/index.ts";
import { memoriesFeature } from "./features/memories/index.ts";
import { metricsFeature } from "./features/metrics/index.ts";
import { issueOperatorKey, organizationsFeature } from "./features/organizations/index.ts";
import { promptsFeature } from "./features/prompts/index.ts";
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
import { createHealth } from "./http/health.ts";
import { createOpening } from "./http/opening.ts";
import type { JobKinds } from "./jobs/attempt.ts";
import { deleteOldRows } from "./jobs/old-rows.ts";
import { endLeases } from "./jobs/queue.ts";
import { createSchedule } from "./jobs/schedule.ts";
import { createWorker } from "./jobs/worker.ts";

/** The columns of model settings, for the command line that reads files of agents and skills. */
export { modelColumns } from "./features/agents/index.ts";
export { Bundle as AgentBundle, unknownFields } from "./features/bundles/index.ts";
/** The database checks of `doctor`. */
export { checkContent, checkDatabase } from "./features/health/index.ts";
export { placeHooks } from "./features/hooks/index.ts";
export { isDefaultPrompt } from "./features/prompts/index.ts";
export { placeDefinitions } from "./features/room/index.ts";
export { ImportedSkill, skillSlugOf } from "./features/skills/index.ts";

export interface OwnerAccount {
  email: string;
  password: string;
}

export interface QuickstartRequest extends OwnerAccount {
  slug: string;
  /** `provider:model`; absent: what the agent has, or for a new one the installation's default. */
  model?: string;
  /** Whether to replace a stored key. */
  newKey: boolean;
}

export interface Quickstart extends QuickstartAgent {
  /** Whether this call created the owner with the given password. */
  ownerCreated: boolean;
}

interface Rotation {
  /** The number of values that this call sealed again. */
  resealed: number;
  /** The number of all sealed values of the installation. */
  total: number;
}

/** A caller on this machine, with all rights in one organization. */
interface Operator {
  /** Slug of the organization. */
  organization: string;
  /** The credential of the calls. It ends with `close`. */
  key: string;
  /** Answers a request as the server would, without a network. */
  fetch: typeof fetch;
  close(): Promise<void>;
}

export interface Engine {
  app: App;
  /** Lets all requests but those for the health wait for a promise, so that the app can be served before `boot`. */
  holdUntil(opened: Promise<unknown>): void;
  /** Makes the installation ready; rejects when the encryption key did not seal its secrets. */
  boot(options: { owner?: OwnerAccount }): Promise<{ setupToken: string | null }>;
  quickstart(request: QuickstartRequest): Promise<Quickstart>;
  /** Seals every stored secret with the current encryption key; rejects when the key of a secret is missing. */
  rotateKey(): Promise<Rotation>;
  /** Drops the secrets that no configured key opens, if `mayDrop` agrees to their names; null when it does not. */
  forgetSecrets(mayDrop: (names: readonly string[]) => Promise<boolean>): Promise<string[] | null>;
  /** Gives a user a new password and ends the user's sessions; rejects when no user has the e-mail. */
  resetPassword(email: string): Promise<PasswordReset>;
  /**
   * Opens the API for a command; `name` tells the audit log which one. Rejects with a `StartError` when it is not clear
   * which organization is meant: the given one, or the only one.
   */
  operator(name: string, organization?: string): Promise<Operator>;
  /** The report for `doctor`, from a database with this release's schema. Changes nothing. */
  inspect(): Promise<Inspection>;
  /**
   * Renews the leases of running turns, which last 30 seconds. Call it every 5 seconds, apart from all other upkeep, so
   * that the next call is in time even when one call hangs until its deadline.
   */
  renewLeases(): Promise<void>;
  /** Ends streams of callers without access any more, and writes events for other replicas. Call it every 2 seconds. */
  closeRevoked(): Promise<void>;
  /**
   * Upkeep: applies changed policies, closes turns of dead processes, begins due background work, and deletes expired
   * rows. Call it every 10 seconds.
   */
  tick(): Promise<void>;
  /** Takes no new turns, lets running turns finish for `graceMs`, then aborts them. */
  stop(graceMs: number): Promise<void>;
  /** The OpenAPI document. */
  document(): object;
}

/** How long after a start the first jobs are begun, in milliseconds. */
const firstJobsMs = 2_000;

/** How long a stop waits for the collectors of traces, in milliseconds. */
const longestFlushMs = 5_000;

/** Builds the engine from all features over the given ports. */
export function createEngine(services: Services): Engine {
  // Both are filled below, since `createTurns` needs the tools and observers of features that are created after it.
  const features: Contribution[] = [];
  let observers: Required<Contribution>["observers"] = [];
  const turns = createTurns(services, {
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
  // The order is that of the OpenAPI document.
  features.push(
    turns.contribution,
    chat.doors,
    { routes: [health.routes] },
    metricsFeature(services),
    accountFeature(),
    organizationsFeature(),
    agentsFeature({
      async beforeDelete(tx, agentId) {
        for (const { beforeAgentDelete } of features) await beforeAgentDelete?.(tx, agentId);
      },
      warningsOf: tracing.warningsOf,
    }),
    bundlesFeature((at) => worker.wake(at)),
    tracing,
    promptsFeature,
    secretsFeature(services),
    skillsFeature,
    channelsFeature(services, { onWork: () => worker.wake() }),
    inboxFeature(services, turns, (at) => worker.wake(at)),
    roomFeature({
      ...{ services, turns, wake: (at) => worker.wake(at) },
      scheduler,
    }),
    tasksFeature({ services, turns, wake: (at) => worker.wake(at) }),
    installationFeature(services),
    healthFeature({ services, scheduler: scheduler.read }),
    auditFeature(services),
    analyticsFeature(services),
    toolsFeature(services),
    hooksFeature,
    memoriesFeature({ services, complete, embedderOf }),
    // Before the conversations, since deleting an agent's files locks the agent.
    filesFeature(services),
    conversationsFeature({ services, complete }),
    activityFeature(services, turns),
    handoffFeature(services, turns),
    chat.signedIn,
  );
  observers = features.flatMap((feature) => feature.observers ?? []);
  const app = createApp(
    services,
    features.flatMap(({ routes }) => routes ?? []),
    opening,
  );
  const worker = createWorker(services, allJobs(features));
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
      for (const { boot } of features) await boot?.();
      if (services.options.soleProcess) await endLeases(services.database);
      if (owner) await bootstrapOwner(services, owner);
      const setupToken = (await ownerExists(services)) ? null : await issueSetupToken(services);
      // Work that fell due before the start has waited already; the first requests come before it.
      worker.wake(services.clock.now() + firstJobsMs);
      return { setupToken };
    },
    async quickstart({ email, password, slug, model, newKey }) {
      const wanted = { slug, newKey, ...(model === undefined ? {} : { model }) };
      // A generated password is shown with the agent only, so what would fail later must make no owner.
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
    async operator(name, slug) {
      const { organization, key, revoke } = await issueOperatorKey(services, name, slug);
      const call: typeof fetch = async (input, init) =>
        app.fetch(new Request(input, init), { remoteAddress: "127.0.0.1" });
      return { organization, key, fetch: call, close: revoke };
    },
    inspect: () => inspect(services),
    renewLeases: () => allOf(ticks("leases")),
    closeRevoked: () => allOf(ticks("often")),
    tick: () => allOf([...ticks("seldom"), ...deletions, schedule.tick, worker.tick]),
    async stop(graceMs) {
      health.stopping();
      const stopFeatures = async () => {
        for (const { stop } of features) await stop?.(graceMs);
      };
      await Promise.all([stopFeatures(), worker.stop(graceMs)]);
      await services.tracer.close(Math.min(graceMs, longestFlushMs));
      await services.mcp.close();
      await services.notify.close();
    },
    document: () => describe(app),
  };
}

/** The background work of all features. Throws when two of them claim one kind. */
function allJobs(features: readonly Contribution[]): JobKinds {
  const all = features.flatMap(({ jobs }) => Object.entries(jobs ?? {}));
  const merged = Object.fromEntries(all);
  if (Object.keys(merged).length < all.length) throw new Error("Two features contribute jobs of the same kind");
  return merged;
}

/** Runs all works one after the other, also after a failure; rejects with the first failure at the end. */
async function allOf(works: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) await work().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}
