import { type CallToolResult, createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { isObject, type JsonValue } from "../../../core/json.ts";
import type { ByteBound } from "../../../core/limits/byte-bound.ts";
import type { Clock, Log, McpServer, McpTool } from "../../../core/ports.ts";
import { type Scrub, scrubber } from "../../../core/scrub/scrub.ts";
import { withinTime } from "../../../core/time/deadline.ts";
import type { Network } from "../egress/send.ts";
import { mostWireBytes } from "./bounds.ts";
import { explainMcp, refusesInitialize } from "./failure.ts";
import { mcpFetch } from "./fetch.ts";
import { LostSession } from "./lost-session.ts";
import { readResult } from "./result.ts";
import { StdioTransport } from "./stdio.ts";

export interface ConnectOptions {
  /** Returns the server with its current settings: its allowed hosts may change during the connection. */
  server: () => McpServer;
  network: Network;
  unfinished: ByteBound;
  /** The environment variables of this server that a process gets. */
  environment: Readonly<Record<string, string>>;
  clock: Clock;
  log: Log;
  /**
   * Called when the connection accepts no more calls: with the reason why the process ended, or with null when the
   * server lost the session.
   */
  onEnd: (reason: string | null) => void;
}

/** An open connection. Its methods reject with plain errors, without secrets. */
export interface Connection {
  list(enough: number, signal: AbortSignal): Promise<McpTool[]>;
  /** Rejects with a `LostSession` when the server lost the session; then the tool did not run. */
  call(tool: McpTool, args: unknown, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

/** The response to a call that reached the server. */
interface Answer {
  /** Returns the result. If the tool failed, throws the server's own text, which may contain secrets. */
  read(): JsonValue;
}

/** In milliseconds: longer than it takes until a process is killed. */
const closeMs = 3_000;

/** Connects. Rejects with a plain error if that fails or the signal is aborted. */
export async function connect(options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const plain = plainErrors(scrubber(options.server().secrets));
  try {
    return await open(options, signal, { discover: false, plain });
  } catch (error) {
    // First the protocol that nearly every server has, since a few servers end when the newer one is requested.
    if (!refusesInitialize(error) || signal.aborted) throw plain(error, signal);
    return await open(options, signal, { discover: true, plain }).catch((newer: unknown) => {
      throw plain(newer, signal);
    });
  }
}

interface Protocol {
  /** Whether to use the newer protocol, which has no `initialize`. */
  discover: boolean;
  plain: ReturnType<typeof plainErrors>;
}

async function open(options: ConnectOptions, signal: AbortSignal, { discover, plain }: Protocol): Promise<Connection> {
  let lost = false;
  const onLostSession = () => {
    lost = true;
    options.onEnd(null);
  };
  const over = new AbortController();
  const { transport, reason } = transportOf(options, onLostSession, over.signal);
  /** Why a process ended explains more than the error of its connection. */
  const causeOf = (error: unknown, { aborted }: AbortSignal) => (aborted ? error : (reason() ?? error));
  const client = await createMCPClient({
    transport,
    protocolVersionDiscovery: discover,
    initializationOptions: { signal },
    clientName: "agent-engine",
  }).catch((error: unknown) => {
    throw causeOf(error, signal);
  });

  return {
    list: (enough, listSignal) =>
      listAll(client, enough, listSignal).catch((error: unknown) => {
        throw plain(causeOf(error, listSignal), listSignal);
      }),
    async call(tool, args, callSignal) {
      try {
        const result = await callTool(client, tool, args, callSignal);
        return { read: () => readResult(result) };
      } catch (error) {
        const explained = plain(causeOf(error, callSignal), callSignal);
        throw lost && !callSignal.aborted ? new LostSession(explained.message) : explained;
      }
    },
    // Does not wait any longer for a server that does not end its session, or a process that does not end.
    close: () =>
      withinTime(options.clock, closeMs, new Error("The server did not end"), () => client.close())
        .catch(() => {})
        .finally(() => over.abort()),
  };
}

function transportOf(
  { server, network, unfinished, environment, clock, log, onEnd }: ConnectOptions,
  onLostSession: () => void,
  over: AbortSignal,
) {
  const { transport } = server();
  if (transport.type === "http") {
    const { url, headers } = transport;
    const fetch = mcpFetch({ network, server, unfinished, onLostSession, over });
    return { transport: { type: "http" as const, url, headers: { ...headers }, fetch }, reason: () => undefined };
  }
  const env = { ...environment, ...transport.env };
  const stdio = new StdioTransport({ server: server(), transport: { ...transport, env }, clock, log, onEnd });
  return { transport: stdio, reason: () => stdio.reason };
}

/** Lists all tools. All pages together may not be larger than one response, since each page could be as large. */
async function listAll(client: MCPClient, enough: number, signal: AbortSignal): Promise<McpTool[]> {
  const pages: McpTool[][] = [];
  let [found, characters] = [0, 0];
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const { tools, nextCursor } = await client.listTools({ ...params, options: { signal } });
    pages.push(tools.map(({ name, description = "", inputSchema }) => ({ name, description, inputSchema })));
    found += tools.length;
    characters += JSON.stringify(tools).length;
    if (characters > mostWireBytes) throw new Error(`The server's tools are larger than ${mostWireBytes / 1024} KiB`);
    // Some servers send an empty cursor at the end.
    cursor = tools.length === 0 ? undefined : nextCursor || undefined;
  } while (cursor !== undefined && found <= enough);
  return pages.flat();
}

function callTool(client: MCPClient, tool: McpTool, args: unknown, signal: AbortSignal): Promise<CallToolResult> {
  // The client needs the definition to know which arguments are also sent as headers (MCP 2026-07-28).
  client.toolsFromDefinitions({ tools: [{ ...tool }] });
  return client.callTool({ name: tool.name, arguments: isObject(args) ? args : {}, options: { signal } });
}

const plainErrors =
  (scrub: Scrub) =>
  (error: unknown, { aborted, reason }: AbortSignal): Error => {
    if (!aborted) return new Error(explainMcp(error, scrub));
    return reason instanceof Error ? reason : new Error("The call was stopped");
  };
