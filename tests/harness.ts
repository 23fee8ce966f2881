import type { LanguageModelV4 } from "@ai-sdk/provider";
import { onTestFinished } from "vitest";
import { createMessengers } from "../src/adapters/messengers/index.ts";
import { createModels } from "../src/adapters/models/index.ts";
import { systemClock } from "../src/adapters/node/clock.ts";
import { guardedFetch } from "../src/adapters/node/egress/fetch.ts";
import { createMeters } from "../src/adapters/node/meters.ts";
import { pooledPost } from "../src/adapters/node/post/post.ts";
import { threadedScripts } from "../src/adapters/node/scripts/pool.ts";
import { listen as listenAt } from "../src/adapters/node/server.ts";
import { shippedAssets } from "../src/adapters/node/shipped.ts";
import type { Services } from "../src/context/ctx.ts";
import { ActivityBus } from "../src/core/activity/bus.ts";
import type { Messengers } from "../src/core/channels/messengers.ts";
import { createCipher } from "../src/core/credentials/cipher.ts";
import type { RoleKey } from "../src/core/credentials/permissions.ts";
import { type Edition, editionOf, features, openEdition } from "../src/core/edition.ts";
import { EgressError } from "../src/core/egress/target.ts";
import { newId, randomToken } from "../src/core/ids.ts";
import { Admission } from "../src/core/limits/admission.ts";
import { unexamined } from "../src/core/machine.ts";
import { MailError, type Mailer } from "../src/core/mail.ts";
import { unmeasured } from "../src/core/meters.ts";
import { Fallbacks } from "../src/core/models/fallbacks.ts";
import { localNotify } from "../src/core/notify.ts";
import type { Plugin } from "../src/core/plugins/plugin.ts";
import { CurrentPolicies } from "../src/core/policies.ts";
import type { Clock, Egress, Files, Log, Mcp, Models, Notify, Scripts } from "../src/core/ports.ts";
import { AgentSecrets } from "../src/core/scrub/agent-secrets.ts";
import { type Collector, type Tracer, untraced } from "../src/core/tracing.ts";
import type { Database } from "../src/db/client.ts";
import { members, organizations, users, workspaceMembers, workspaces } from "../src/db/schema.ts";
import { createEngine, type Engine } from "../src/engine.ts";
import { createSession } from "../src/features/account/index.ts";
import { TestClock } from "./clock.ts";
import { openTestDatabase } from "./database.ts";
import { passwords } from "./passwords.ts";
import { memoryFiles } from "./stored-files.ts";

type Headers = Record<string, string>;

/** The managed edition with all features. */
export const managedEdition = editionOf({ EDITION: "managed", FEATURES: features });

interface Options {
  /** A database that the test opens and closes; by default an empty one of the harness. */
  database?: Database;
  /** The model of every turn, whatever provider the agent names. */
  model?: LanguageModelV4;
  models?: Models;
  /** Without it, tools reach nothing. */
  egress?: Egress;
  /** Without it, no MCP server can be reached. */
  mcp?: Mcp;
  /** The families of tools; absent for none. */
  plugins?: readonly Plugin[];
  /** Without it, no messenger can be reached. */
  messengers?: Messengers;
  /** Without it, files are in memory, and no bucket can be reached. */
  files?: Files;
  /** Without it, no mail can be sent. */
  mailer?: Mailer;
  allowStdioMcp?: boolean;
  /** By default the open one. */
  edition?: Edition;
  /** Whether the engine assumes that it is the only process on the database. */
  soleProcess?: boolean;
  /** Two harnesses with the same one are replicas; by default notices stay within the process. */
  notify?: Notify;
  /** Without it, nothing is traced. */
  tracer?: (clock: Clock, log: Log) => Tracer;
  /** The operator's collector of traces; absent for none. */
  collector?: Collector;
  /** Absent for the real sandbox. */
  scripts?: Scripts;
  /** The event loop's delay in milliseconds; by default none. */
  loopDelay?: () => number;
  /** The token that monitoring sends; absent without monitoring. */
  metricsToken?: string;
  panel?: boolean;
  trustProxy?: number;
  chatRequestsPerMinute?: number;
  environmentKeys?: Record<string, string>;
  /** The encryption keys, the current one first. */
  keys?: Uint8Array<ArrayBuffer>[];
}

interface Organization {
  id: string;
  slug: string;
  workspaceId: string;
}

export interface Harness {
  engine: Engine;
  services: Services;
  clock: TestClock;
  /** The lines of the log, as JSON. */
  logs: string[];
  /** Sends a request to the app, without a network. A `json` body is serialised. */
  request(path: string, init?: RequestInit & { json?: unknown }): Promise<Response>;
  /** The headers of a new user with this role; with `reach: false` the user is in no workspace of the organization. */
  as(role: RoleKey, options?: { organization?: Organization; reach?: boolean }): Promise<Headers>;
  /** The headers of a new Platform Admin who is a member of no organization. */
  asPlatformAdmin(): Promise<Headers>;
  /** The default organization of `as`. */
  organization: Organization;
  createOrganization(slug: string): Promise<Organization>;
  /** An agent with Web on and a key, made through the API. */
  agent(fields?: Record<string, unknown>): Promise<{ slug: string; key: string; headers: Headers }>;
  /** Serves the app on a free port. */
  listen(): Promise<string>;
}

/** The real app on the real database, with a clock and a model that the test controls. */
export async function harness(options: Options = {}): Promise<Harness> {
  const database = options.database ?? (await openOwn());
  const clock = new TestClock();
  const logs: string[] = [];
  /** The credentials that the harness made: no line of the log may contain one. */
  const handedOut = new Set<string>();
  onTestFinished(() => {
    for (const credential of handedOut) {
      if (logs.some((line) => line.includes(credential))) throw new Error(`The log holds a credential: ${credential}`);
    }
  });
  const real = createModels({ post: pooledPost(), guarded: guardedFetch() });
  const { model } = options;
  const services: Services = {
    database,
    clock,
    log: collect(logs),
    admission: new Admission({ clock, log: collect(logs), loopDelay: options.loopDelay ?? (() => 0), random: () => 0 }),
    cipher: await createCipher(options.keys ?? [new Uint8Array(32).fill(7)]),
    assets: shippedAssets,
    machine: unexamined,
    passwords,
    scripts: options.scripts ?? threadedScripts({ clock: systemClock, log: collect(logs) }),
    tracer: options.tracer?.(clock, collect(logs)) ?? untraced,
    policies: new CurrentPolicies(),
    notify: options.notify ?? localNotify(collect(logs)),
    activity: new ActivityBus({ clock, log: collect(logs) }),
    agentSecrets: new AgentSecrets(),
    fallbacks: new Fallbacks(clock),
    meters: options.metricsToken === undefined ? unmeasured : createMeters(collect(logs)),
    egress: options.egress ?? { request: async () => Promise.reject(new EgressError("The tests have no way out")) },
    mcp: options.mcp ?? unreachable,
    plugins: options.plugins ?? [],
    messengers:
      options.messengers ??
      createMessengers({ clock, fetch: async () => Promise.reject(new Error("The tests have no way out")) }),
    files: options.files ?? memoryFiles(),
    mailer: options.mailer ?? { send: async () => Promise.reject(new MailError("The tests have no way out")) },
    models: options.models ?? (model ? { resolve: async () => model } : real),
    options: {
      version: "0.1.0",
      edition: options.edition ?? openEdition,
      trustProxy: options.trustProxy ?? 0,
      chatRequestsPerMinute: options.chatRequestsPerMinute ?? 20,
      baseUrl: "http://localhost:4000",
      environmentKeys: new Map(Object.entries(options.environmentKeys ?? {})),
      allowStdioMcp: options.allowStdioMcp ?? false,
      soleProcess: options.soleProcess ?? false,
      metricsToken: options.metricsToken,
      panel: options.panel ?? true,
      collector: options.collector ?? null,
    },
  };
  const engine = createEngine(services);
  onTestFinished(() => engine.stop(0));

  const createOrganization = async (slug: string): Promise<Organization> => {
    const id = newId();
    const workspaceId = newId();
    await database.db.insert(organizations).values({ id, slug, name: slug });
    await database.db.insert(workspaces).values({ id: workspaceId, organizationId: id, name: "default" });
    return { id, slug, workspaceId };
  };
  const organization = await createOrganization("acme");

  const request: Harness["request"] = async (path, { json, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (json !== undefined) headers.set("Content-Type", "application/json");
    const body = json === undefined ? init.body : JSON.stringify(json);
    return engine.app.request(
      path,
      { ...init, headers, ...(body === undefined ? {} : { body }) },
      { remoteAddress: "192.0.2.1" },
    );
  };

  const signedIn = async (userId: string): Promise<Headers> => {
    const session = await createSession(services, userId, { ip: "192.0.2.1", userAgent: "test" });
    handedOut.add(session);
    return { Authorization: `Bearer ${session}` };
  };

  const as: Harness["as"] = async (role, { organization: home = organization, reach = true } = {}) => {
    const userId = newId();
    await database.db.insert(users).values({ id: userId, email: `${role}-${userId}@example.com`, name: role });
    await database.db.insert(members).values({ organizationId: home.id, userId, roleKey: role });
    if (reach) await database.db.insert(workspaceMembers).values({ workspaceId: home.workspaceId, userId });
    return signedIn(userId);
  };

  const asPlatformAdmin = async () => {
    const id = newId();
    const user = { id, email: `admin-${id}@example.com`, name: "platform admin", isPlatformAdmin: true };
    await database.db.insert(users).values(user);
    return signedIn(id);
  };

  let agents = 0;
  const agent: Harness["agent"] = async (fields = {}) => {
    const headers = await as("owner");
    agents += 1;
    const slug = typeof fields.slug === "string" ? fields.slug : `agent-${agents}`;
    const key = `key-${randomToken(18)}`;
    handedOut.add(key);
    await expectOk(
      request("/api/instances", {
        method: "POST",
        headers,
        json: { provider: "demo", model: "demo", ...fields, slug },
      }),
    );
    await expectOk(
      request(`/api/instances/${slug}/channels/web`, {
        method: "PUT",
        headers,
        json: { config: { apiKey: key }, enabled: true },
      }),
    );
    return { slug, key, headers };
  };

  const listen = async () => {
    const listener = await listenAt("127.0.0.1", 0);
    onTestFinished(() => void listener.close());
    listener.serve({
      fetch: (incoming, bindings) => engine.app.fetch(incoming, { ...bindings, remoteAddress: "192.0.2.1" }),
    });
    return `http://127.0.0.1:${listener.port}`;
  };

  return {
    engine,
    services,
    clock,
    logs,
    request,
    as,
    asPlatformAdmin,
    organization,
    createOrganization,
    agent,
    listen,
  };
}

async function openOwn(): Promise<Database> {
  const { database, close } = await openTestDatabase();
  onTestFinished(close);
  return database;
}

const refuse = async () => Promise.reject(new Error("The tests reach no MCP server"));
const unreachable: Mcp = { list: refuse, call: refuse, forget: () => {}, close: async () => {} };

async function expectOk(response: Promise<Response>): Promise<void> {
  const { ok, status } = await response;
  if (!ok) throw new Error(`The harness got ${status}: ${await (await response).text()}`);
}

function collect(lines: string[], base: Record<string, unknown> = {}): Log {
  const line = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push(JSON.stringify({ level, ...base, ...fields, message }, errorsAsText));
  };
  return {
    debug: line("debug"),
    info: line("info"),
    warn: line("warn"),
    error: line("error"),
    child: (fields) => collect(lines, { ...base, ...fields }),
  };
}

function errorsAsText(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return { ...value, message: value.message, stack: value.stack, cause: value.cause };
}
