import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { JsonValue } from "./json.ts";
import type { ProviderName } from "./providers.ts";
import type { S3Bucket } from "./s3.ts";

/** Time, owned by whoever composes the engine, so that a test can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

type Fields = Record<string, unknown>;

/** Structured log: fields first, then a sentence. Implementations scrub what looks like a credential. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  child(fields: Fields): Log;
}

/** Which model, where, with which credential. Values come from the agent first, then from the environment. */
export interface ModelSpec {
  provider: ProviderName;
  model: string;
  baseUrl: string | undefined;
  apiKey: string | undefined;
}

/** Files that pages load, shipped beside the program. */
export interface Assets {
  /** The bytes of a file, or null when there is none of this name. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
}

export interface Models {
  /** The model of a spec; rejects with an `Error` for the log when the provider lacks its key or is not in this build. */
  resolve(spec: ModelSpec): Promise<LanguageModelV4>;
  /** The vectors of at most 32 texts, by the embedding model of a spec; rejects as `resolve`. Absent: there are none. */
  embed?(spec: ModelSpec, texts: readonly string[], signal: AbortSignal): Promise<Embedding>;
}

export interface Embedding {
  /** In the order of the texts. */
  vectors: number[][];
  tokens: number;
}

/** Tells what texts mean, for one agent. */
export interface Embedder {
  /** Vectors of different models can't be compared. */
  model: string;
  /** Texts less alike (cosine, up to 1) have nothing to do with each other. */
  least: number;
  /** The vectors of at most 32 texts. Rejects with an `Error` for the log. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly number[][]>;
}

/**
 * What the fast model of an agent answers to a prompt, for work that nobody waits for. Rejects with an `EngineError`
 * `not-found` when the agent is off or gone and `rate-limited` when its budget is spent, else with an error whose
 * message is stored and logged, so that it must hold no secret.
 */
export type Complete = (agentSlug: string, prompt: string, signal: AbortSignal) => Promise<string>;

/** Password hashing, which takes tens of milliseconds of a core: where threads exist, it runs beside the event loop. */
export interface Passwords {
  /** The PHC string to store of a password. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password is the one behind `hash`; with null it takes as long and says no. Where passwords wait for one
   * another, throws the 429 once too many of one `client` do.
   */
  verify(hash: string | null, password: string, client?: string): Promise<boolean>;
  /** The same for a bcrypt hash, the older form of a management key. */
  verifyBcrypt(hash: string, text: string): Promise<boolean>;
}

/** A request to an address that somebody outside chose, such as a model. */
export interface EgressRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** `host` or `host:port`: may be reached although they are not public (policy `httpAllowedHosts`). */
  allowedHosts: readonly string[];
  /** Whether it carries secrets that were filled in: then no redirect to another origin is followed. */
  sensitive: boolean;
  /** How long the answer may be, decompressed. */
  maxBytes: number;
  /** For all of it, redirects included; 15 seconds unless said otherwise. */
  timeoutMs?: number;
  signal: AbortSignal;
}

export interface EgressAnswer {
  status: number;
  /** By name in lower case. */
  headers: Record<string, string>;
  /** As text; what is none is described in brackets. */
  body: string;
  /** Where the answer came from, after redirects. */
  url: string;
}

/** The way out for tools: public addresses only (decisions §7, `httpRequest`). */
export interface Egress {
  /** Rejects with an `EgressError`, whose message a model may read. */
  request(request: EgressRequest): Promise<EgressAnswer>;
}

/** One run of a skill's script. */
export interface ScriptRun {
  /** Its name among the skill's scripts, such as `total.js`; errors name it. */
  file: string;
  content: string;
  args: JsonValue;
  /** The skill's scripts by their files: what a script may import, as `./name.js`. */
  modules?: Readonly<Record<string, string>>;
  /** Whoever it is run for: of one owner's scripts, only a few may wait at once. */
  owner?: string;
  signal: AbortSignal;
}

/** What a script gave back, or why it did not, for a model to read; and what it logged either way, a text per call. */
export type ScriptResult = ({ ok: true; result: JsonValue } | { ok: false; error: string }) & { logs: string[] };

/** Runs scripts of people whom nobody has to trust (decisions §6, "Scripts"): they reach nothing but their arguments. */
export interface Scripts {
  /** Rejects with the signal's reason when that is aborted, and never otherwise. */
  run(script: ScriptRun): Promise<ScriptResult>;
}

/** How an MCP server is reached. */
export type McpTransport =
  | { type: "http"; url: string; headers: Readonly<Record<string, string>> }
  | { type: "stdio"; command: string; args: readonly string[]; env: Readonly<Record<string, string>> };

/** An MCP server as its callers know it. */
export interface McpServer {
  /** The same for all configurations of one server. */
  id: string;
  /** Another configuration has another one; what an earlier one opened is closed. */
  version: string;
  /** What the log calls it. */
  name: string;
  transport: McpTransport;
  /** Values that neither errors nor the log may show. */
  secrets: readonly string[];
  /** As in `EgressRequest`. */
  allowedHosts: readonly string[];
}

/** A tool as an MCP server lists it. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

/** MCP servers, each connected to when it is first needed. What their methods reject with may be shown to anybody. */
export interface Mcp {
  /** Connects anew and lists the tools; asks for no more of them once there are more than `enough`. 15 seconds in all. */
  list(server: McpServer, enough: number): Promise<McpTool[]>;
  /** The result of a call; rejects with the server's own words when the tool failed. */
  call(server: McpServer, tool: McpTool, args: unknown, signal: AbortSignal): Promise<JsonValue>;
  /** Disconnects from the server with this id once its calls are over. */
  forget(id: string): void;
  /** Disconnects from all of them, and takes no more calls. */
  close(): Promise<void>;
}

/** Where the bytes of files lie, by keys of the engine's own making. */
export interface ObjectStore {
  /** Stores all of it or nothing; what was under the key is replaced. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>, mime: string): Promise<void>;
  /** Null when there is nothing under the key. Whoever gets a stream reads or cancels it. */
  get(key: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>> | null>;
  /** What is not there is deleted already. */
  delete(key: string): Promise<void>;
}

/** The stores there are. They reject with an `EngineError` whose message may be shown. */
export interface Files {
  /** On this machine; null where other replicas would not see it. */
  directory: ObjectStore | null;
  s3(bucket: S3Bucket): ObjectStore;
}

/** What the processes of one installation tell each other. */
export type Topic = "agent-changed" | "conversation-freed" | "work-due" | "turn-wanted" | "turn-stopped";

/** Wakes listeners in this process and in other replicas, so that they need not wait until they look by themselves. */
export interface Notify {
  /**
   * Tells every listener of the topic: those of this process at once, before it returns, those of other replicas within
   * moments. Delivery to replicas is a hint: it may be late, merged with an equal one, or missing. Call it after the
   * commit of what it tells. Never throws, never waits.
   */
  publish(topic: Topic, key: string): void;
  /**
   * Calls `hear` with the key of each message, and `onGap` when messages of other replicas may have been missed. What
   * either throws is logged. The returned function ends the listening.
   */
  listen(topic: Topic, hear: (key: string) => void, onGap?: () => void): () => void;
  /** Sends what waits, and disconnects, within a second. From then on messages stay in this process. */
  close(): Promise<void>;
}
