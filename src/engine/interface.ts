import type { App } from "../app.ts";
import type { PasswordReset, PlatformAdminChange } from "../features/account/index.ts";
import type { QuickstartAgent } from "../features/channels/index.ts";
import type { Inspection } from "../features/health/index.ts";

export interface OwnerAccount {
  email: string;
  password: string;
}

export interface QuickstartRequest extends OwnerAccount {
  slug: string;
  /** `provider:model`; absent: the agent's own model, or the installation's default for a new agent. */
  model?: string;
  /** Whether to replace a stored key. */
  newKey: boolean;
}

export interface Quickstart extends QuickstartAgent {
  /** Whether this call created the owner with the given password. */
  ownerCreated: boolean;
}

interface Rotation {
  /** How many values this call sealed again. */
  resealed: number;
  /** How many sealed values the installation has. */
  total: number;
}

/** A caller on this machine that has all rights in one organization. */
interface Operator {
  /** The slug of the organization. */
  organization: string;
  /** The credential of the requests. `close` deletes it. */
  key: string;
  /** Answers a request as the server would, without a network. */
  fetch: typeof fetch;
  close(): Promise<void>;
}

export interface Engine {
  app: App;
  /** Makes all requests except health checks wait for a promise, so that the app can be served before `boot`. */
  holdUntil(opened: Promise<unknown>): void;
  /** Prepares the installation. Rejects when the encryption key does not open its secrets. */
  boot(options: { owner?: OwnerAccount }): Promise<{ setupToken: string | null }>;
  quickstart(request: QuickstartRequest): Promise<Quickstart>;
  /** Seals every stored secret again with the current encryption key. Rejects when the key of a secret is missing. */
  rotateKey(): Promise<Rotation>;
  /** Deletes the secrets that no configured key opens, if `mayDrop` accepts their names; null when it refuses them. */
  forgetSecrets(mayDrop: (names: readonly string[]) => Promise<boolean>): Promise<string[] | null>;
  /** Sets a new password of a user and ends the user's sessions. Rejects for an unknown e-mail. */
  resetPassword(email: string): Promise<PasswordReset>;
  /** Makes a user a Platform Admin, or ends that. Rejects for an unknown e-mail and for the last one. */
  changePlatformAdmin(email: string, value: boolean): Promise<PlatformAdminChange>;
  /**
   * Opens the API for a command; `name` is the actor in the audit log. Rejects with a `StartError` unless
   * `organization` names the organization or there is only one.
   */
  operator(name: string, organization?: string): Promise<Operator>;
  /** The report for `doctor`, from a database with this release's schema. Changes nothing. */
  inspect(): Promise<Inspection>;
  /**
   * Renews the leases of this process's turns, jobs and followed channels, which last 30 seconds. Call it every 5
   * seconds, apart from other upkeep, so that the next call is in time even if one hangs until its deadline.
   */
  renewLeases(): Promise<void>;
  /** Ends the streams of callers that lost their access, and writes events for other replicas. Call it every 2 seconds. */
  closeRevoked(): Promise<void>;
  /**
   * Upkeep: applies changed policies, closes turns of dead processes, starts due background work, and deletes expired
   * rows. Call it every 10 seconds.
   */
  tick(): Promise<void>;
  /** Makes `/health` and `/ready` answer 503, so that balancers send their requests elsewhere. All else goes on. */
  drain(): void;
  /** Drains, refuses new turns, lets running turns finish within `graceMs`, then aborts them. */
  stop(graceMs: number): Promise<void>;
  /** The OpenAPI document. */
  document(): object;
}
