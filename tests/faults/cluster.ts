import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import postgres from "postgres";
import { expect } from "vitest";
import { createAgentEngine } from "../../src/client/index.ts";
import { telegramServer, telegramToken } from "../messengers/telegram-server.ts";
import { isOpen, pgBouncer, startPgBouncer } from "../pg-bouncer.ts";
import { freePort, PostgresNode } from "../postgres-node.ts";
import { withDatabase } from "../real-postgres.ts";
import { readPages, textsIn } from "../runtime/pages.ts";
import { atEnd, dataDirectory, type Program, start } from "../runtime/program.ts";
import { startModel } from "./model.ts";

const haproxy = "/usr/sbin/haproxy";
export const programs = [haproxy, pgBouncer];

const owner = { email: "ada@example.com", password: "only-for-this-test" };
export const agent = { slug: "assistant", key: "a-key-for-the-load-0123456789" };

/** How long a server drains, in seconds, and the time between HAProxy's checks. */
export interface Pace {
  drainSeconds: number;
  checkEvery: string;
}

/**
 * Two built servers behind HAProxy, set up by docs/high-availability.md, on a PostgreSQL with a synchronous standby. The
 * first server knows both hosts; the second one reaches the primary through PgBouncer and HAProxy.
 */
export class Cluster {
  /** HAProxy's address in front of the servers. */
  url = "";
  /** The path of an event source's webhook. */
  webhook = "";
  readonly telegram;
  #pooler: Awaited<ReturnType<typeof startPgBouncer>> | null = null;
  readonly #pace: Pace;
  readonly #nodes: readonly [PostgresNode, PostgresNode];
  #primary = 0;
  readonly #ports: number[] = [];
  readonly #environments: Record<string, string>[] = [];
  readonly servers: Program[] = [];

  /** Null without a PostgreSQL for this platform. */
  static async start(pace: Pace): Promise<Cluster | null> {
    const nodes = await Promise.all([PostgresNode.make(), PostgresNode.make()]);
    const [one, two] = nodes;
    if (!one || !two) return null;
    atEnd(() => Promise.all([one.remove(), two.remove()]).then(() => {}));
    const telegram = await telegramServer();
    atEnd(() => telegram.close());
    const cluster = new Cluster(pace, [one, two], telegram);
    await cluster.#startDatabase();
    await cluster.#startServers(await cluster.#startBalancer());
    await cluster.#makeAgent();
    return cluster;
  }

  private constructor(
    pace: Pace,
    nodes: readonly [PostgresNode, PostgresNode],
    telegram: Awaited<ReturnType<typeof telegramServer>>,
  ) {
    this.#pace = pace;
    this.#nodes = nodes;
    this.telegram = telegram;
  }

  get primary(): PostgresNode {
    return this.#nodes[this.#primary] as PostgresNode;
  }

  get standby(): PostgresNode {
    return this.#nodes[1 - this.#primary] as PostgresNode;
  }

  /** Asks the primary. */
  async query<Row extends object>(text: string): Promise<Row[]> {
    const sql = postgres(withDatabase(this.primary.url, "agent_engine"), { max: 1, onnotice: () => {} });
    try {
      return await sql.unsafe<Row[]>(text);
    } finally {
      await sql.end();
    }
  }

  /** Kills a server and starts it again. */
  async kill(index: number): Promise<void> {
    this.servers[index]?.child.kill("SIGKILL");
    await this.servers[index]?.ended;
    await this.#startServer(index);
  }

  /** Stops a server as an update does, and starts it again. */
  async restart(index: number): Promise<void> {
    this.servers[index]?.child.kill("SIGTERM");
    expect(await this.servers[index]?.ended).toBe(0);
    await this.#startServer(index);
  }

  /** Kills the second server's pooler and starts it again. */
  async killPooler(): Promise<void> {
    await this.#pooler?.kill();
  }

  /** Ends the primary like a crash of its process, and starts it again. */
  async crash(): Promise<void> {
    await this.primary.end("SIGKILL");
    await this.primary.start(durable);
  }

  /** Ends the primary for good. The standby takes its place, and a new standby the place of that. */
  async failOver(): Promise<void> {
    const [former, next] = [this.primary, this.standby];
    await former.end("SIGKILL");
    await asAdmin(next, (sql) => sql`select pg_promote()`);
    this.#primary = 1 - this.#primary;
    await this.#addStandby(former);
  }

  async #startDatabase(): Promise<void> {
    this.primary.initialize();
    await this.primary.start(durable);
    await asAdmin(this.primary, (sql) => sql`create database agent_engine`);
    await this.#addStandby(this.standby);
  }

  async #addStandby(standby: PostgresNode): Promise<void> {
    await standby.copy(this.primary);
    const primary_conninfo = `host=127.0.0.1 port=${this.primary.port} user=postgres application_name=standby`;
    await standby.start({ ...durable, primary_conninfo });
    await asAdmin(this.primary, async (sql) => {
      await sql`alter system set synchronous_standby_names = 'standby'`;
      await sql`select pg_reload_conf()`;
      await expect.poll(() => sql`select sync_state from pg_stat_replication`).toEqual([{ sync_state: "sync" }]);
    });
  }

  /** HAProxy with the file of the page. Answers the port where it leads to the primary. */
  async #startBalancer(): Promise<number> {
    const [front, database, one, two] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
    const roles = await Promise.all(this.#nodes.map((node) => this.#tellRole(node)));
    const page = readPages().find(({ name }) => name === "docs/high-availability.md");
    const [text = ""] = page ? textsIn(page, "haproxy") : [];
    const file = join(dataDirectory(), "haproxy.cfg");
    const changed = text
      .replace(/bind :443 ssl crt \S+/, `bind 127.0.0.1:${front}`)
      .replace("bind 127.0.0.1:5432", `bind 127.0.0.1:${database}`)
      .replace(/server one \S+/, `server one 127.0.0.1:${one}`)
      .replace(/server two \S+/, `server two 127.0.0.1:${two}`)
      .replace(/server db(\d) \S+/g, (_, number) => {
        const index = Number(number) - 1;
        return this.#nodes[index] ? `server db${number} 127.0.0.1:${this.#nodes[index].port} port ${roles[index]}` : "";
      })
      .replace("inter 2s", `inter ${this.#pace.checkEvery}`);
    writeFileSync(file, changed);
    const child = spawn(haproxy, ["-f", file], { stdio: "ignore" });
    atEnd(() => void child.kill("SIGKILL"));
    await expect.poll(() => isOpen(front)).toBe(true);
    this.url = `http://127.0.0.1:${front}`;
    this.#ports.push(one, two);
    return database;
  }

  /** Stands in for Patroni, whose answer about a node is 200 only for the primary. Answers the port. */
  async #tellRole(node: PostgresNode): Promise<number> {
    const port = await freePort();
    const server = createServer((_, response) => {
      response.writeHead(node === this.primary ? 200 : 503).end();
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    return port;
  }

  async #startServers(databasePort: number): Promise<void> {
    const balanced = `postgres://postgres@127.0.0.1:${databasePort}/agent_engine`;
    const hosts = this.#nodes.map(({ port }) => `127.0.0.1:${port}`).join();
    const both = {
      HOST: "127.0.0.1",
      TRUST_PROXY: "1",
      ENCRYPTION_KEY: randomBytes(32).toString("hex"),
      OWNER_EMAIL: owner.email,
      OWNER_PASSWORD: owner.password,
      OPENAI_COMPATIBLE_BASE_URL: await startModel(),
      TELEGRAM_API_BASE_URL: this.telegram.base,
      CHAT_REQUESTS_PER_MINUTE: "0",
      DRAIN_SECONDS: String(this.#pace.drainSeconds),
    };
    this.#pooler = await startPgBouncer(balanced);
    this.#environments.push(
      { ...both, DATABASE_URL: `postgres://postgres@${hosts}/agent_engine?target_session_attrs=primary` },
      {
        ...both,
        DATABASE_URL: this.#pooler.url,
        DATABASE_PREPARE: "false",
        DATABASE_LISTEN_URL: balanced,
      },
    );
    for (const index of [0, 1]) await this.#startServer(index);
  }

  async #startServer(index: number): Promise<void> {
    const server = start(["serve"], { ...this.#environments[index], PORT: String(this.#ports[index]) });
    await server.printed(/"address":"http:/);
    this.servers[index] = server;
    const ready = () => fetch(`http://127.0.0.1:${this.#ports[index]}/ready`).then(({ status }) => status);
    await expect.poll(ready).toBe(200);
  }

  async #makeAgent(): Promise<void> {
    await expect.poll(() => fetch(`${this.url}/ready`).then(({ status }) => status)).toBe(200);
    const { token } = await createAgentEngine({ baseUrl: this.url }).signIn({ body: owner });
    const engine = createAgentEngine({ baseUrl: this.url, token });
    const { slug } = agent;
    const models = { provider: "openai-compatible", model: "main", fastModel: "fast" } as const;
    await engine.createAgent({
      body: { slug, name: "Assistant", ...models, debounceMs: 0, monthlyTokenBudget: 100_000_000 },
    });
    await engine.putAgentChannel({ slug, type: "web", body: { enabled: true, config: { apiKey: agent.key } } });
    const telegram = { botToken: telegramToken, transport: "polling" };
    await engine.putAgentChannel({ slug, type: "telegram", body: { enabled: true, config: telegram } });
    const source = await engine.createEventSource({ slug, body: { name: "Orders", sourceType: "webhook" } });
    await engine.createEventDefinition({
      slug,
      id: source.id,
      body: {
        name: "All",
        action: "conversation",
        matchingPrompt: "Any order",
        contextPrompt: "Look at {{payload.mark}}",
      },
    });
    this.webhook = `/webhooks/${source.webhookToken}`;
  }
}

const durable = { synchronous_commit: "on", full_page_writes: "on" };

async function asAdmin(node: PostgresNode, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(node.url, { max: 1, onnotice: () => {} });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}
