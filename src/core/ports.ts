import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { S3Bucket } from "./files/s3.ts";
import type { JsonValue } from "./json.ts";
import type { ConnectionProvider, ProviderName } from "./models/providers.ts";

/** The time. It is a port so that tests can move it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `fn` once after `ms`; the returned function cancels it. */
  after(ms: number, fn: () => void): () => void;
}

type Fields = Record<string, unknown>;

/** The structured log: fields first, then a sentence. Implementations scrub text that looks like a credential. */
export interface Log {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  child(fields: Fields): Log;
}

/** The address and credential with which a provider is called. */
export interface ProviderSettings {
  provider: ConnectionProvider;
  /** Undefined: the provider's own. */
  baseUrl: string | undefined;
  apiKey: string | undefined;
  /**
   * Set when a user of the server gives the address: then only public addresses and these hosts are allowed, as in
   * `EgressRequest`. Addresses in the environment are the operator's own.
   */
  allowedHosts?: readonly string[];
}

/** A model, with its provider's address and credential. */
export interface ModelSpec extends ProviderSettings {
  provider: ProviderName;
  model: string;
}

/** A provider's response to a request for its list of models. */
export type ModelList = { models: string[] } | { status: number; said: string };

/** The files of pages, shipped beside the program. */
export interface Assets {
  /** Reads a file; null for a missing one. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** One call of a model. */
export interface ModelCall
  extends Pick<LanguageModelV4CallOptions, "prompt" | "temperature" | "maxOutputTokens" | "reasoning" | "abortSignal"> {
  tools?: LanguageModelV4FunctionTool[];
  toolChoice?: { type: "auto" | "none" };
}

/** One part of a reply, or several that arrived together: to read one list costs less than to read each part. */
type ModelParts = LanguageModelV4StreamPart | readonly LanguageModelV4StreamPart[];

/** The warning in a reply's `stream-start` when the model got only the newer part of the conversation. */
export const shortened = { type: "other", message: "The conversation was shortened" } as const;

/** The metadata of a `text-end` after a text that turned out to be thoughts. */
export const thought = { engine: { thought: true } } as const;

/** Reads a reply, like the reader of a `ReadableStream`. */
export interface PartsReader {
  read(): Promise<{ done: boolean; value?: ModelParts | undefined }>;
  /** Disconnects from the provider. A pending read ends at once. */
  cancel(): Promise<void>;
}

/** A model as the engine calls it. Each `LanguageModelV4` is one. */
export interface StreamingModel {
  doStream(call: ModelCall): PromiseLike<{ stream: { getReader(): PartsReader } }>;
}

export interface Models {
  /** The model of a spec; rejects with an `Error` for the log when its provider lacks a key or is not in this build. */
  resolve(spec: ModelSpec): Promise<StreamingModel>;
  /** Embeds at most 32 texts with a spec's embedding model; rejects as `resolve` does. */
  embed?(spec: ModelSpec, texts: readonly string[], signal: AbortSignal): Promise<Embedding>;
  /** Requests the list of a provider's models. Rejects without a response over HTTP. */
  list?(access: ProviderSettings, signal: AbortSignal): Promise<ModelList>;
}

export interface Embedding {
  /** In the order of the texts. */
  vectors: number[][];
  tokens: number;
}

/** Embeds texts for one agent. */
export interface Embedder {
  /** The name of the model, since vectors of different models can't be compared. */
  model: string;
  /** From this cosine on (1 is the largest), two texts count as related. */
  least: number;
  /**
   * Embeds at most 32 texts. Rejects with an `Error` for the log, or with a `TextsRefused` when one of the texts may be
   * the cause.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly number[][]>;
}

/** An agent, as a job has read it. */
export interface AgentSeen {
  slug: string;
  /** The agent must have at least this revision. */
  revision: number;
}

/** Password hashing. A call takes a core tens of milliseconds, in a thread of its own where there are threads. */
export interface Passwords {
  /** Returns the PHC string to store. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches `hash`. With null it takes as long, and returns false. With a thread, it rejects with
   * the 429 when too many calls of one `client` wait.
   */
  verify(hash: string | null, password: string, client?: string): Promise<boolean>;
  /** `verify` for a bcrypt hash, the older form of a stored management key. */
  verifyBcrypt(hash: string, text: string): Promise<boolean>;
}

/** A request to an address that others choose, for example a model. */
export interface EgressRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Non-public `host`s or `host:port`s that may be reached (policy `httpAllowedHosts`). */
  allowedHosts: readonly string[];
  /** Whether the request contains secrets: then no redirect to another origin is followed. */
  sensitive: boolean;
  /** The most bytes of the decompressed response body. */
  maxBytes: number;
  /** The deadline of the whole request, including redirects; 15 seconds by default. */
  timeoutMs?: number;
  /** An organization. The responses of one owner get only a part of the memory for all responses at the same time. */
  owner?: string;
  signal: AbortSignal;
}

export interface EgressAnswer {
  status: number;
  /** By name in lower case. */
  headers: Record<string, string>;
  /** The body as text; a binary body is described in brackets. */
  body: string;
  /** The response's address, after redirects. */
  url: string;
}

/** Requests of tools, to public addresses only (decisions §7, `httpRequest`). */
export interface Egress {
  /** Rejects with an `EgressError` whose message a model may read. */
  request(request: EgressRequest): Promise<EgressAnswer>;
}

/** One run of a skill's script. */
export interface ScriptRun {
  /** Its name among the skill's scripts, such as `total.js`, used in errors. */
  file: string;
  content: string;
  args: JsonValue;
  /** The skill's scripts by file name; a script may import each as `./name.js`. */
  modules?: Readonly<Record<string, string>>;
  /** An organization. Owners take turns, and only a few scripts of one owner may wait at a time. */
  owner?: string;
  signal: AbortSignal;
}

/** A script's result, or an error for the model, and the texts that it logged, one for each call. */
export type ScriptResult = ({ ok: true; result: JsonValue } | { ok: false; error: string }) & { logs: string[] };

/** Runs untrusted scripts (decisions §6, "Scripts"). They reach only their arguments and modules. */
export interface Scripts {
  /** Rejects only when the signal aborts, with the signal's reason. */
  run(script: ScriptRun): Promise<ScriptResult>;
}

/** How an MCP server is reached. */
export type McpTransport =
  | { type: "http"; url: string; headers: Readonly<Record<string, string>> }
  | { type: "stdio"; command: string; args: readonly string[]; env: Readonly<Record<string, string>> };

/** An MCP server for callers of `Mcp`. */
export interface McpServer {
  /** The server's id, the same for all its configurations. */
  id: string;
  /** Another text for each configuration; connections with an earlier one are closed. */
  version: string;
  /** As in `EgressRequest`. */
  owner?: string;
  /** The server's name in the log. */
  name: string;
  transport: McpTransport;
  /** Values that errors and the log must not contain. */
  secrets: readonly string[];
  /** As in `EgressRequest`. */
  allowedHosts: readonly string[];
}

/** A tool in an MCP server's list. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
}

/** The MCP servers, each connected when first used. Errors of the methods may be shown to anybody. */
export interface Mcp {
  /** Connects again and lists the tools, within 15 seconds. After `enough` tools no more pages are read. */
  list(server: McpServer, enough: number): Promise<McpTool[]>;
  /** Returns the result of a call. Rejects with the server's own text when the tool failed. */
  call(server: McpServer, tool: McpTool, args: unknown, signal: AbortSignal): Promise<JsonValue>;
  /** Disconnects from a server when its calls have ended. */
  forget(id: string): void;
  /** Disconnects from all servers, and accepts no more calls. */
  close(): Promise<void>;
}

/** Stores the bytes of files under the engine's keys. Throws `StorageRefusal` when a request surely had no effect. */
export interface ObjectStore {
  /** Stores the bytes as a whole or not at all; replaces an existing object. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>, mime: string): Promise<void>;
  /** The object under the key, or null. The caller must read its bytes or cancel them. */
  get(key: string): Promise<StoredObject | null>;
  /** Deletes the object under the key, if there is one. */
  delete(key: string): Promise<void>;
  /** Makes an address at which anyone can read the object; null for a store that has no addresses. */
  link: ((key: string, link: ObjectLink) => Promise<string>) | null;
}

export interface StoredObject {
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The number of bytes; null when the store does not say. */
  size: number | null;
}

/** How long an object's address is valid, and two headers of its response. */
export interface ObjectLink {
  /** At most a week. */
  seconds: number;
  mime: string;
  disposition: string;
}

/** The stores of files. They reject with an `EngineError` whose message may be shown. */
export interface Files {
  /** The directory on this machine; null when replicas would not see it. */
  directory: ObjectStore | null;
  s3(bucket: S3Bucket): ObjectStore;
}

/** The notices between the processes of an installation. */
type Topic =
  | "activity"
  | "agent-changed"
  | "conversation-freed"
  | "work-due"
  | "turn-wanted"
  | "turn-stopped"
  | "inbox"
  | "channel-started";

/** Wakes listeners in this process and in other replicas before their next read of the database. */
export interface Notify {
  /**
   * Notifies every listener of the topic: those of this process before it returns, those of other replicas soon. For a
   * replica a message is only a hint: it may be late, merged with an equal one, or lost. Call `publish` after the
   * change is committed. Never throws and never waits.
   */
  publish(topic: Topic, key: string): void;
  /**
   * Calls `hear` with the key of each message, and `onGap` when messages of other replicas may have been lost. Logs
   * errors of both. The returned function removes the listener.
   */
  listen(topic: Topic, hear: (key: string) => void, onGap?: () => void): () => void;
  /** Whether messages of other replicas arrive, as far as was seen. */
  isHearing(): boolean;
  /** Sends waiting messages and disconnects, within a second. Later messages stay in this process. */
  close(): Promise<void>;
}
