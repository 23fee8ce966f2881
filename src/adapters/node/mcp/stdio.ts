import {
  type JSONRPCMessage,
  type MCPTransport,
  type MCPTransportSendOptions,
  validateJSONRPCMessage,
} from "@ai-sdk/mcp";
import type { Clock, Log, McpServer, McpTransport } from "../../../core/ports.ts";
import type { RequestId } from "./answer.ts";
import { listExcess, mostWireBytes, textExcess } from "./bounds.ts";
import { Lines } from "./lines.ts";
import { mendAnswer } from "./mend.ts";
import { type Process, startProcess } from "./process.ts";
import { logErrors } from "./stderr.ts";

interface Options {
  server: McpServer;
  transport: Extract<McpTransport, { type: "stdio" }>;
  clock: Clock;
  log: Log;
  /** Called once, with the reason; not after `close`. */
  onEnd: (reason: string) => void;
}

/** The most bytes that a process may send, even for many waiting requests. */
const mostAllowance = 8 * mostWireBytes;
const mostServerRequests = 1_000;
/** The most lines in a row that are no messages: some processes print a greeting or a few log lines. */
const mostBadLines = 1_000;
const onlyBadLines =
  "The server's process printed 1,000 lines in a row that are no messages: its log belongs on its error stream";
const aliveMs = 5_000;

/**
 * The client's side of a process with MCP on its standard streams. Passes on only responses to requests, and a limited
 * number of requests by the server. Ends a process that floods, does not read, or does not answer a ping.
 */
export class StdioTransport implements MCPTransport {
  readonly supportsProtocolVersionDiscovery = true;
  /** The library alone would wait 1 s, before many processes have even started; `connect` has its own deadline. */
  readonly waitsForProtocolVersionDiscovery = true;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #options: Options;
  readonly #lines = new Lines();
  /** The ids of requests without a response. */
  readonly #unanswered = new Set<string>();
  #process: Process | undefined;
  /** How many bytes the process may still send; each request adds `mostWireBytes`. */
  #allowance = 0;
  #received = 0;
  #serverRequests = 0;
  #badLines = 0;
  #over = false;
  #reason: string | undefined;
  #cancelCheck = () => {};

  constructor(options: Options) {
    this.#options = options;
  }

  /** Why the process ended; undefined after `close`. */
  get reason(): string | undefined {
    return this.#reason;
  }

  async start(): Promise<void> {
    const { transport, clock, server, log } = this.#options;
    const child = await startProcess(transport, clock).catch((error: Error) => {
      this.#fail(error.message);
      throw error;
    });
    this.#process = child;
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    const lastWords = logErrors(child.stderr, { server, log });
    void child.ended.then((how) => this.#fail(`The server's process ${how}${lastWords()}`));
    if (this.#over) await child.stop();
  }

  async send(message: JSONRPCMessage, { signal }: MCPTransportSendOptions = {}): Promise<void> {
    if ("method" in message && "id" in message) {
      const { id, method } = message;
      this.#unanswered.add(String(id));
      this.#allowance = Math.min(this.#allowance + mostWireBytes, mostAllowance);
      // A client may not cancel `initialize`; it closes the connection instead.
      if (method !== "initialize") signal?.addEventListener("abort", () => this.#cancel(id), { once: true });
    }
    this.#write(message);
  }

  async close(): Promise<void> {
    this.#end();
    await this.#process?.stop();
  }

  #fail(reason: string): void {
    if (this.#over) return;
    this.#reason = reason;
    this.#options.onEnd(reason);
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelCheck();
    void this.#process?.stop();
    this.onclose?.();
  }

  #write(message: object): void {
    const { stdin } = this.#process ?? {};
    if (this.#over || !stdin) throw new Error(this.#reason ?? "The connection is closed");
    if (stdin.writableLength > mostWireBytes) this.#fail("The server's process does not read what it is sent");
    else stdin.write(`${JSON.stringify(message)}\n`);
  }

  #receive(chunk: Buffer): void {
    if (this.#over) return;
    this.#allowance -= chunk.length;
    const lines = this.#lines.push(chunk);
    if (this.#allowance < 0 || this.#lines.pending > mostWireBytes) {
      this.#fail("The server's process sent far more than it was asked for");
      return;
    }
    for (const line of lines) this.#read(line);
  }

  /** Reads one line. Ignores lines that are no messages, up to `mostBadLines` in a row. */
  #read(line: string): void {
    if (this.#over) return;
    this.#received += 1;
    // A line that does not begin like a message is not parsed.
    const begun = line.trimStart().startsWith("{");
    const excess = begun ? textExcess(line) : null;
    if (excess !== null) {
      this.#fail(`The server's process sent what ${excess}`);
      return;
    }
    const message = begun ? parse(line) : null;
    this.#badLines = message === null ? this.#badLines + 1 : 0;
    if (this.#badLines >= mostBadLines) this.#fail(onlyBadLines);
    if (message === null) return;
    if (typeof message.method === "string") {
      if (message.id === undefined || this.#serverRequests >= mostServerRequests) return;
      this.#serverRequests += 1;
      this.#deliver(message);
    } else if (this.#unanswered.delete(String(message.id))) {
      const excess = listExcess(message);
      if (excess === null && this.#deliver(mendAnswer(message))) return;
      const error = { code: -32_600, message: `its answer ${excess ?? "is no valid JSON-RPC message"}` };
      this.#deliver({ jsonrpc: "2.0", id: message.id, error });
    }
  }

  #deliver(message: object): boolean {
    try {
      this.onmessage?.(validateJSONRPCMessage(message));
      return true;
    } catch {
      return false;
    }
  }

  #cancel(id: RequestId): void {
    if (!this.#unanswered.delete(String(id)) || this.#over) return;
    this.#write({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    this.#checkAlive();
  }

  /**
   * Pings the process. A slow tool delays only its own call, but a process that does not respond would delay every
   * later call.
   */
  #checkAlive(): void {
    if (this.#over) return;
    const before = this.#received;
    this.#write({ jsonrpc: "2.0", id: "alive", method: "ping" });
    this.#cancelCheck();
    this.#cancelCheck = this.#options.clock.after(aliveMs, () => {
      if (this.#received === before) this.#fail("The server's process does not answer");
    });
  }
}

interface Message {
  id?: unknown;
  method?: unknown;
}

function parse(line: string): Message | null {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === "object" && message !== null ? message : null;
  } catch {
    return null;
  }
}
