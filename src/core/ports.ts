import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { S3Bucket } from "./files/s3.ts";
import type { JsonValue } from "./json.ts";
import type { ProviderName } from "./models/providers.ts";

/** The time. It is a port, so that a test can move it. */
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

/** A model, with its address and credential, which come from the agent's secrets, else from the environment. */
export interface ModelSpec {
  provider: ProviderName;
  model: string;
  baseUrl: string | undefined;
  apiKey: string | undefined;
  /**
   * Set where an agent's own secret names the address: then only public addresses and these hosts are reached, as in
   * `EgressRequest`. The addresses of the environment are the operator's.
   */
  allowedHosts?: readonly string[];
}

/** The files that pages load. They are shipped beside the program. */
export interface Assets {
  /** The bytes of a file, or null when there is none of this name. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** One call of a model. */
export interface ModelCall
  extends Pick<LanguageModelV4CallOptions, "prompt" | "temperature" | "maxOutputTokens" | "reasoning" | "abortSignal"> {
  tools?: LanguageModelV4FunctionTool[];
  toolChoice?: { type: "auto" | "none" };
}

/** A part of a reply, or those that came together: one list costs less than as many reads. */
type ModelParts = LanguageModelV4StreamPart | readonly LanguageModelV4StreamPart[];

/** The warning in the `stream-start` of a reply for which the model got the newer part of the conversation only. */
export const shortened = { type: "other", message: "The conversation was shortened" } as const;

/** The metadata of a `text-end` whose text was thoughts, as what follows has shown. */
export const thought = { engine: { thought: true } } as const;

/** Reads a reply, as the reader of a `ReadableStream` does. */
export interface PartsReader {
  read(): Promise<{ done: boolean; value?: ModelParts | undefined }>;
  /** Lets go of the provider. A read that waits ends at once. */
  cancel(): Promise<void>;
}

/** A model as the engine calls it. Each `LanguageModelV4` is one. */
export interface StreamingModel {
  doStream(call: ModelCall): PromiseLike<{ stream: { getReader(): PartsReader } }>;
}

export interface Models {
  /** The model of a spec; rejects with an `Error` for the log when its provider lacks its key or is not built in. */
  resolve(spec: ModelSpec): Promise<StreamingModel>;
  /** The vectors of at most 32 texts, by the embedding model of a spec; rejects as `resolve` does. */
  embed?(spec: ModelSpec, texts: readonly string[], signal: AbortSignal): Promise<Embedding>;
}

export interface Embedding {
  /** In the order of the texts. */
  vectors: number[][];
  tokens: number;
}

/** Turns texts into vectors of their meaning, for one agent. */
export interface Embedder {
  /** The model's name: vectors of different models can't be compared. */
  model: string;
  /** The least cosine (up to 1) of two related texts. */
  least: number;
  /** The vectors of at most 32 texts. Rejects with an `Error` for the log, a `TextsRefused` where one of them may be why. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly number[][]>;
}

/** An agent as a job read it. */
export interface AgentSeen {
  slug: string;
  /** An older copy of the agent must not be used. */
  revision: number;
}

/** Password hashing. A call takes tens of milliseconds of a core; where threads exist, it runs in one. */
export interface Passwords {
  /** The PHC string that is stored for a password. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches `hash`; with null it takes as long and answers false. Where passwords wait for a
   * thread, rejects with the 429 when too many of one `client` wait.
   */
  verify(hash: string | null, password: string, client?: string): Promise<boolean>;
  /** `verify` for a bcrypt hash, the older form of a stored management key. */
  verifyBcrypt(hash: string, text: string): Promise<boolean>;
}

/** A request to an address that came from outside, such as from a model. */
export interface EgressRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** Each `host` or `host:port`; they may be reached although they are not public (policy `httpAllowedHosts`). */
  allowedHosts: readonly string[];
  /** Whether secrets were filled into the request: then no redirect to another origin is followed. */
  sensitive: boolean;
  /** The most bytes of the answer's body, decompressed. */
  maxBytes: number;
  /** Deadline of the whole request, redirects included; 15 seconds when absent. */
  timeoutMs?: number;
  /** An organization. Answers to one owner get only a part of what those that come in at the same time may take. */
  owner?: string;
  signal: AbortSignal;
}

export interface EgressAnswer {
  status: number;
  /** By name in lower case. */
  headers: Record<string, string>;
  /** The body as text; a body that is no text is described in brackets. */
  body: string;
  /** The address of the answer, after redirects. */
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
  /** The skill's scripts by their files; a script may import each as `./name.js`. */
  modules?: Readonly<Record<string, string>>;
  /** An organization. Owners take turns, and only a few scripts of one owner may wait at once. */
  owner?: string;
  signal: AbortSignal;
}

/** The result of a script, or an error for a model to read, and the texts that the script logged, one a call. */
export type ScriptResult = ({ ok: true; result: JsonValue } | { ok: false; error: string }) & { logs: string[] };

/** Runs untrusted scripts (decisions §6, "Scripts"): a script reaches nothing but its arguments and modules. */
export interface Scripts {
  /** Rejects only when the signal aborts, with the signal's reason. */
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
  /** Differs between configurations; connections of an earlier version are closed. */
  version: string;
  /** As in `EgressRequest`. */
  owner?: string;
  /** The server's name in the log. */
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

/** The MCP servers, each connected when it is first needed. The errors of the methods may be shown to anybody. */
export interface Mcp {
  /** Connects anew and lists the tools, in at most 15 seconds; stops asking for pages beyond `enough` tools. */
  list(server: McpServer, enough: number): Promise<McpTool[]>;
  /** The result of a call; rejects with the server's own words when the tool failed. */
  call(server: McpServer, tool: McpTool, args: unknown, signal: AbortSignal): Promise<JsonValue>;
  /** Disconnects from the server with this id once its calls are over. */
  forget(id: string): void;
  /** Disconnects from all of them, and takes no more calls. */
  close(): Promise<void>;
}

/** Stores the bytes of files under keys that the engine makes. It throws `StorageRefusal` where it surely did nothing. */
export interface ObjectStore {
  /** Stores all of the bytes or none, and replaces the object under the key. */
  put(key: string, bytes: Uint8Array<ArrayBuffer>, mime: string): Promise<void>;
  /** The object under the key, or null. The caller must read or cancel its bytes. */
  get(key: string): Promise<StoredObject | null>;
  /** Deletes the object under the key, if there is one. */
  delete(key: string): Promise<void>;
  /** An address at which whoever has it reads the object; null where the store has no address of its own. */
  link: ((key: string, link: ObjectLink) => Promise<string>) | null;
}

export interface StoredObject {
  bytes: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The number of bytes; null where the store does not send it beforehand. */
  size: number | null;
}

/** The validity of an object's address, and two headers that are sent with the object. */
export interface ObjectLink {
  /** At most a week. */
  seconds: number;
  mime: string;
  disposition: string;
}

/** The stores of files. They reject with an `EngineError` whose message may be shown. */
export interface Files {
  /** On this machine; null where other replicas would not see it. */
  directory: ObjectStore | null;
  s3(bucket: S3Bucket): ObjectStore;
}

/** The notices between the processes of one installation. */
type Topic =
  | "activity"
  | "agent-changed"
  | "conversation-freed"
  | "work-due"
  | "turn-wanted"
  | "turn-stopped"
  | "inbox"
  | "channel-started";

/** Wakes listeners in this process and in other replicas before their next look at the database. */
export interface Notify {
  /**
   * Tells every listener of the topic: those of this process before it returns, those of other replicas within moments.
   * A message to a replica is a hint: it may be late, merged with an equal one, or lost. Call `publish` after the
   * commit of the change that it announces. It never throws and never waits.
   */
  publish(topic: Topic, key: string): void;
  /**
   * Calls `hear` with the key of each message, and `onGap` when messages of other replicas may have been lost. Errors
   * of both are logged. The returned function ends the listening.
   */
  listen(topic: Topic, hear: (key: string) => void, onGap?: () => void): () => void;
  /** Sends the waiting messages and disconnects, within a second. Later messages stay in this process. */
  close(): Promise<void>;
}
