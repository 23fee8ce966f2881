import { type App, createApp, describe } from "./app.ts";
import type { Actor, Ctx, Services } from "./context.ts";
import { newId } from "./core/ids.ts";
import { roles } from "./core/permissions.ts";
import {
  accountRoutes,
  bootstrapOwner,
  issueSetupToken,
  ownerExists,
  type PasswordReset,
  resetPassword,
  tidyAccounts,
} from "./features/account/index.ts";
import { createAgentRoutes } from "./features/agents/index.ts";
import { createAuditRoutes, createRetention } from "./features/audit/index.ts";
import { channelRoutes, createQuickstartAgent } from "./features/channels/index.ts";
import { answeringProvider, createChat } from "./features/chat/index.ts";
import { conversationJobs, conversationRoutes, deleteConversationsOf } from "./features/conversations/index.ts";
import { createFileSweep, deleteFilesOf, fileJobs, fileRoutes } from "./features/files/index.ts";
import { hookRoutes } from "./features/hooks/index.ts";
import {
  inspectSettings,
  installationRoutes,
  loadPolicies,
  type SettingsReport,
} from "./features/installation/index.ts";
import { enqueueMissing, memoryJobs, memoryRoutes } from "./features/memories/index.ts";
import { organizationRoutes } from "./features/organizations/index.ts";
import { promptRoutes } from "./features/prompts/index.ts";
import {
  inspectSecrets,
  rotateSecrets,
  type SecretsReport,
  secretRoutes,
  verifyEncryptionKey,
} from "./features/secrets/index.ts";
import { skillRoutes } from "./features/skills/index.ts";
import { toolRoutes } from "./features/tools/index.ts";
import { createHealth } from "./http/health.ts";
import { inspectJobs, type JobsReport } from "./jobs/failed.ts";
import { createWorker } from "./jobs/worker.ts";

export interface OwnerAccount {
  email: string;
  password: string;
}

export interface QuickstartRequest extends OwnerAccount {
  slug: string;
  /** `provider:model`; absent: the installation's default. */
  model?: string;
  /** Replace a key that is stored already. */
  newKey: boolean;
}

export interface Quickstart {
  slug: string;
  /** Null when a key was stored before: it cannot be shown again. */
  key: string | null;
  /** Whether this call made the owner with the given password. */
  ownerCreated: boolean;
  /** Whether the built-in demo model answers for the agent. */
  demo: boolean;
}

export interface Rotation {
  /** Values sealed anew by this call. */
  resealed: number;
  /** All sealed values of the installation. */
  total: number;
}

export interface Inspection {
  secrets: SecretsReport;
  /** Whether anybody owns the installation yet. */
  owned: boolean;
  settings: SettingsReport;
  jobs: JobsReport;
}

export interface Engine {
  app: App;
  /** Makes the installation ready; rejects when the encryption key is not the one its secrets were sealed with. */
  boot(options: { owner?: OwnerAccount }): Promise<{ setupToken: string | null }>;
  quickstart(request: QuickstartRequest): Promise<Quickstart>;
  /** Seals every stored secret with the current encryption key; rejects when a key is missing that one needs. */
  rotateKey(): Promise<Rotation>;
  /** A new password for a user whose sessions end; rejects when nobody has the e-mail. */
  resetPassword(email: string): Promise<PasswordReset>;
  /** What `doctor` asks of a database whose schema is of this release. Changes nothing. */
  inspect(): Promise<Inspection>;
  /**
   * Renews the leases of running turns, which last 30 seconds. Call it every 5, apart from all other upkeep: even when
   * one call hangs until its deadline, the next one is in time.
   */
  renewLeases(): Promise<void>;
  /** Ends the streams of callers who lost their right to them, and hands over what other replicas ask for. Call it every 2 seconds. */
  closeRevoked(): Promise<void>;
  /**
   * Upkeep: takes changed policies over, closes what dead processes left, begins background work that is due, forgets
   * what is over. Call it every 10 seconds.
   */
  tick(): Promise<void>;
  /** Takes no new turns, lets running ones finish for `graceMs`, then aborts them. */
  stop(graceMs: number): Promise<void>;
  /** The OpenAPI document. */
  document(): object;
}

/** Puts the features together over the given ports. */
export function createEngine(services: Services): Engine {
  const health = createHealth(services);
  const chat = createChat(services);
  const app = createApp(services, [
    chat.routes,
    health.routes,
    accountRoutes,
    organizationRoutes,
    createAgentRoutes(async (tx, agentId) => {
      // First, since it locks the agent.
      await deleteFilesOf(tx, services.cipher, { agentId });
      await deleteConversationsOf(tx, agentId);
    }),
    promptRoutes,
    secretRoutes,
    skillRoutes,
    channelRoutes,
    installationRoutes,
    createAuditRoutes(),
    toolRoutes,
    hookRoutes,
    memoryRoutes,
    fileRoutes,
    conversationRoutes,
    chat.approvalRoutes,
    chat.playgroundRoutes,
  ]);
  const worker = createWorker(services, {
    ...conversationJobs({ services, complete: chat.complete }),
    ...memoryJobs({ services, complete: chat.complete, embedderOf: chat.embedderOf }),
    ...fileJobs(services),
  });
  chat.onWork(worker.wake);
  const deleteOldEntries = createRetention(services);
  const sweepFiles = createFileSweep(services);

  return {
    app,
    async boot({ owner }) {
      await verifyEncryptionKey(services);
      await loadPolicies(services);
      await enqueueMissing(services);
      if (owner) await bootstrapOwner(services, owner);
      const setupToken = (await ownerExists(services)) ? null : await issueSetupToken(services);
      return { setupToken };
    },
    async quickstart({ email, password, slug, model, newKey }) {
      const { userId, organizationId, organizationSlug, created } = await bootstrapOwner(services, { email, password });
      const actor: Actor = { type: "system", id: null, name: "quickstart" };
      const ctx: Ctx = {
        ...services,
        db: services.database.db,
        actor,
        membership: {
          organizationId,
          organizationSlug,
          first: true,
          role: "owner",
          permissions: roles.owner,
          workspaceIds: null,
        },
        request: { id: newId(), ip: "" },
      };
      const agent = await createQuickstartAgent(ctx, { slug, newKey, ...(model === undefined ? {} : { model }) });
      services.log.debug({ userId }, "Quickstart is ready");
      const demo = (await answeringProvider(services, agent.slug)) === "demo";
      return { ...agent, ownerCreated: created, demo };
    },
    async rotateKey() {
      await verifyEncryptionKey(services);
      const resealed = await rotateSecrets(services);
      return { resealed, total: (await inspectSecrets(services)).sealed };
    },
    resetPassword: (email) => resetPassword(services, email),
    inspect: async () => ({
      secrets: await inspectSecrets(services),
      owned: await ownerExists(services),
      settings: await inspectSettings(services),
      jobs: await inspectJobs(services.database, services.clock.now()),
    }),
    renewLeases: () => chat.renewLeases(),
    closeRevoked: () => chat.closeRevoked(),
    async tick() {
      await loadPolicies(services);
      await chat.tick();
      await worker.tick();
      await tidyAccounts(services);
      await deleteOldEntries();
      await sweepFiles();
    },
    async stop(graceMs) {
      health.stopping();
      await Promise.all([chat.stop(graceMs), worker.stop(graceMs)]);
      await services.mcp.close();
      await services.notify.close();
    },
    document: () => describe(app),
  };
}
