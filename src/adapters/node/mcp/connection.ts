import { type CallToolResult, createMCPClient, type MCPClient } from "@ai-sdk/mcp";
import { isObject, type JsonValue } from "../../../core/json.ts";
import type { Clock, Log, McpServer, McpTool } from "../../../core/ports.ts";
import { type Scrub, scrubber } from "../../../core/scrub.ts";
import { withinTime } from "../../deadline.ts";
import { explainMcp, refusesInitialize } from "./failure.ts";
import { mcpFetch, type Way } from "./fetch.ts";
import { readResult } from "./result.ts";
import { StdioTransport } from "./stdio.ts";

export interface ConnectOptions {
  /** The server as it is now: the hosts that are allowed may change while it is connected. */
  server: () => McpServer;
  way: Way;
  /** What a process gets of ours. */
  environment: Readonly<Record<string, string>>;
  clock: Clock;
  log: Log;
  /** It takes no more calls: because its process ended, or with null because it forgot the session. */
  onEnd: (reason: string | null) => void;
}

/** A connection that was made. Its methods reject with plain errors; what a tool failed with is to be scrubbed. */
export interface Connection {
  list(enough: number, signal: AbortSignal): Promise<McpTool[]>;
  /** The answer; `null` when the server has forgotten the session, so that nothing was done. */
  call(tool: McpTool, args: unknown, signal: AbortSignal): Promise<Answer | null>;
  close(): Promise<void>;
}

/** What came of a call that the server took. */
export interface Answer {
  /** Throws the server's own words when the tool failed. */
  read(): JsonValue;
}

/** Longer than a process has until it is ended. */
const closeMs = 3_000;

/** Connects; rejects with a plain error when that fails or the signal is aborted. */
export async function connect(options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const plain = plainErrors(scrubber(options.server().secrets));
  try {
    return await open(options, signal, { discover: false, plain });
  } catch (error) {
    // The protocol that every server speaks comes first: a few end when they are asked for a newer one.
    if (!refusesInitialize(error) || signal.aborted) throw plain(error, signal);
    return await open(options, signal, { discover: true, plain }).catch((newer: unknown) => {
      throw plain(newer, signal);
    });
  }
}

interface Manner {
  /** Whether to speak the protocol without `initialize`. */
  discover: boolean;
  plain: ReturnType<typeof plainErrors>;
}

async function open(options: ConnectOptions, signal: AbortSignal, { discover, plain }: Manner): Promise<Connection> {
  let lost = false;
  const onLostSession = () => {
    lost = true;
    options.onEnd(null);
  };
  const { transport, reason } = transportOf(options, onLostSession);
  /** Why a process ended says more than that its connection did. */
  const better = (error: unknown, { aborted }: AbortSignal) => (aborted ? error : (reason() ?? error));
  const client = await createMCPClient({
    transport,
    protocolVersionDiscovery: discover,
    initializationOptions: { signal },
    clientName: "agent-engine",
  }).catch((error: unknown) => {
    throw better(error, signal);
  });

  return {
    list: (enough, listSignal) =>
      listAll(client, enough, listSignal).catch((error: unknown) => {
        throw plain(better(error, listSignal), listSignal);
      }),
    async call(tool, args, callSignal) {
      try {
        const result = await callTool(client, tool, args, callSignal);
        return { read: () => readResult(result) };
      } catch (error) {
        if (lost && !callSignal.aborted) return null;
        throw plain(better(error, callSignal), callSignal);
      }
    },
    // The wait for a server that does not end its session, or for a process that does not end, is given up.
    close: () =>
      withinTime(options.clock, closeMs, new Error("The server did not end"), () => client.close()).catch(() => {}),
  };
}

function transportOf({ server, way, environment, clock, log, onEnd }: ConnectOptions, onLostSession: () => void) {
  const { transport } = server();
  if (transport.type === "http") {
    const { url, headers } = transport;
    const fetch = mcpFetch({ way, server, onLostSession });
    return { transport: { type: "http" as const, url, headers: { ...headers }, fetch }, reason: () => undefined };
  }
  const env = { ...environment, ...transport.env };
  const stdio = new StdioTransport({ server: server(), transport: { ...transport, env }, clock, log, onEnd });
  return { transport: stdio, reason: () => stdio.reason };
}

async function listAll(client: MCPClient, enough: number, signal: AbortSignal): Promise<McpTool[]> {
  const pages: McpTool[][] = [];
  let found = 0;
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { params: { cursor } };
    const { tools, nextCursor } = await client.listTools({ ...params, options: { signal } });
    pages.push(
      tools.map(({ name, title, description = title ?? "", inputSchema }) => ({ name, description, inputSchema })),
    );
    found += tools.length;
    cursor = tools.length === 0 ? undefined : nextCursor;
  } while (cursor !== undefined && found <= enough);
  return pages.flat();
}

function callTool(client: MCPClient, tool: McpTool, args: unknown, signal: AbortSignal): Promise<CallToolResult> {
  // Tells the client which arguments go into headers, too (MCP 2026-07-28); it would know by listing them.
  client.toolsFromDefinitions({ tools: [{ ...tool }] });
  return client.callTool({ name: tool.name, arguments: isObject(args) ? args : {}, options: { signal } });
}

const plainErrors =
  (scrub: Scrub) =>
  (error: unknown, { aborted, reason }: AbortSignal): Error => {
    if (!aborted) return new Error(explainMcp(error, scrub));
    return reason instanceof Error ? reason : new Error("The call was stopped");
  };
