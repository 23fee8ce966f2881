import type { Environment } from "../../../core/config.ts";
import { unfinishedAnswers } from "../../../core/egress/unfinished.ts";
import type { JsonValue } from "../../../core/json.ts";
import type { ByteBound } from "../../../core/limits/byte-bound.ts";
import type { Clock, Log, Mcp, McpServer, McpTool } from "../../../core/ports.ts";
import { scrubber } from "../../../core/scrub/scrub.ts";
import { orAborted, withinTime } from "../../../core/time/deadline.ts";
import { resolveBySystem } from "../egress/names.ts";
import type { Network } from "../egress/send.ts";
import type { Connection } from "./connection.ts";
import { LostSession } from "./lost-session.ts";
import { Setbacks } from "./setbacks.ts";

interface Options extends Omit<Network, "resolve"> {
  clock: Clock;
  log: Log;
  /** The environment of this server; processes get its `PATH` and `HOME`. */
  environment: Environment;
  /** Resolves all addresses of a name; `resolveBySystem` unless given. */
  resolve?: Network["resolve"];
  /** Counts unfinished responses together with other readers of tool responses; separately unless given. */
  unfinished?: ByteBound;
}

const connectMs = 15_000;
const idleMs = 10 * 60_000;
const tooSlow = () => new Error(`The server did not answer within ${connectMs / 1000} seconds`);

/** This machine's connections to MCP servers, one for each. */
export function createMcp(options: Options): Mcp {
  return new Connections(options);
}

interface Entry {
  server: McpServer;
  connection: Promise<Connection>;
  calls: number;
  /** Whether the connection accepts no more calls. */
  over: boolean;
  stop: AbortController;
  cancelIdle: () => void;
}

class Connections implements Mcp {
  readonly #options: Options & { unfinished: ByteBound };
  readonly #setbacks: Setbacks;
  /** The entries that accept calls, by server id. */
  readonly #current = new Map<string, Entry>();
  readonly #all = new Set<Entry>();
  #closed = false;

  constructor(options: Options) {
    const { unfinished = unfinishedAnswers() } = options;
    this.#options = { ...options, unfinished };
    this.#setbacks = new Setbacks(options.clock);
  }

  list(server: McpServer, enough: number): Promise<McpTool[]> {
    return withoutSecrets(server, async () => {
      this.forget(server.id);
      const entry = this.#connect(server);
      const list = (signal: AbortSignal) => this.#use(entry, signal, (connection) => connection.list(enough, signal));
      return withinTime(this.#options.clock, connectMs, tooSlow(), list).catch((error: unknown) => {
        this.#retire(entry);
        throw error;
      });
    });
  }

  call(server: McpServer, tool: McpTool, args: unknown, signal: AbortSignal): Promise<JsonValue> {
    return withoutSecrets(server, async () => {
      const once = () => this.#use(this.#entry(server), signal, (connection) => connection.call(tool, args, signal));
      const answer = await once().catch((error: unknown) => {
        if (error instanceof LostSession) return once();
        throw error;
      });
      this.#setbacks.forget(server.id);
      return answer.read();
    });
  }

  forget(id: string): void {
    this.#setbacks.forget(id);
    const entry = this.#current.get(id);
    if (entry) this.#retire(entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((entry) => this.#close(entry)));
  }

  #entry(server: McpServer): Entry {
    const entry = this.#current.get(server.id);
    if (entry?.server.version === server.version) {
      entry.server = server;
      return entry;
    }
    if (entry) this.forget(server.id);
    this.#setbacks.requireOver(server.id);
    return this.#connect(server);
  }

  #connect(server: McpServer): Entry {
    if (this.#closed) throw new Error("The engine is stopping");
    const { clock } = this.#options;
    const stop = new AbortController();
    const entry: Entry = {
      server,
      stop,
      calls: 0,
      over: false,
      cancelIdle: () => {},
      connection: withinTime(clock, connectMs, tooSlow(), (signal) =>
        this.#open(() => entry, AbortSignal.any([signal, stop.signal])),
      ),
    };
    this.#current.set(server.id, entry);
    this.#all.add(entry);
    entry.connection.catch((error: Error) => this.#onEnd(entry, error.message));
    return entry;
  }

  async #open(entry: () => Entry, signal: AbortSignal): Promise<Connection> {
    const { clock, log, environment, unfinished, resolve = resolveBySystem, ...route } = this.#options;
    // Loaded when needed: the first use loads the library.
    const { connect } = await import("./connection.ts");
    const { PATH = "", HOME = "" } = environment;
    const connection = await connect(
      {
        server: () => entry().server,
        network: { ...route, resolve },
        environment: { PATH, HOME },
        clock,
        log,
        unfinished,
        onEnd: (reason) => this.#onEnd(entry(), reason),
      },
      signal,
    );
    if (signal.aborted) await connection.close();
    return connection;
  }

  async #use<T>(entry: Entry, signal: AbortSignal, work: (connection: Connection) => Promise<T>): Promise<T> {
    entry.calls += 1;
    entry.cancelIdle();
    try {
      return await orAborted(work(await orAborted(entry.connection, signal)), signal);
    } finally {
      entry.calls -= 1;
      if (entry.calls === 0) this.#onUnused(entry);
    }
  }

  #onUnused(entry: Entry): void {
    if (entry.over) void this.#close(entry);
    else entry.cancelIdle = this.#options.clock.after(idleMs, () => this.#retire(entry));
  }

  /** A connection that ends by itself counts as a setback; one that was replaced does not. */
  #onEnd(entry: Entry, reason: string | null): void {
    if (!entry.over && reason !== null) this.#setbacks.note(entry.server.id, reason);
    this.#retire(entry);
  }

  #retire(entry: Entry): void {
    entry.over = true;
    if (this.#current.get(entry.server.id) === entry) this.#current.delete(entry.server.id);
    if (entry.calls === 0) void this.#close(entry);
  }

  async #close(entry: Entry): Promise<void> {
    entry.over = true;
    entry.cancelIdle();
    entry.stop.abort(new Error("The connection was closed"));
    const connection = await entry.connection.catch(() => null);
    await connection?.close();
    this.#all.delete(entry);
  }
}

/** Runs the work, and removes the server's credentials from its error's message. */
async function withoutSecrets<T>({ secrets }: McpServer, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(scrubber(secrets)(error instanceof Error ? error.message : String(error)));
  }
}
