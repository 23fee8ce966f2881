import type { JsonObject, JsonValue } from "../json.ts";

export type { JsonObject, JsonValue };

// The interface of plugins, those of the engine and everybody else's: published as `agent-engine/plugin`.

/** A family of tools that agents can have. A tool is called `<namespace>:<tool>`. */
export interface Plugin {
  /** 1 to 32 lower-case letters, digits or dashes, not a dash first. */
  namespace: string;
  /** Shown above the tools, such as `GitHub`. */
  title: string;
  /**
   * All that the tools reach by `request`. `host` is by https at its own port, 443; `host:port` is that port, by http
   * too. `*.example.com` is every host below it.
   */
  hosts: readonly string[];
  /** The secrets of an agent that the tools need. */
  secrets: readonly PluginSecret[];
  tools: readonly PluginTool[];
}

/** A secret of an agent. Where several plugins declare one key, they share its value. */
export interface PluginSecret {
  /** Lower-case letters, digits and `_`, at most 64. */
  key: string;
  type: "text" | "select";
  label?: string;
  description?: string;
  /** The choices of a `select`. */
  choices?: readonly string[];
  /** The tools work without it. */
  optional?: boolean;
  /** False: a setting that may be shown. */
  sensitive: boolean;
}

export interface PluginTool {
  /** Without the namespace: letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** The text by which a model decides whether to call the tool. */
  description: string;
  /**
   * A JSON Schema of type `object`. Arguments are checked against it before `execute`, but not by patterns and
   * references, whose check may take for ever, nor very long ones.
   */
  parameters: JsonObject;
  /**
   * `external`: a call may change something outside, so the engine never repeats it. `none`: a repeated call does no
   * harm.
   */
  effect: "none" | "external";
  /** Whether a person decides about each call, unless the agent's operator chose otherwise. */
  needsApproval: boolean;
  /** Throws an `Error` whose message the model reads. */
  execute(args: JsonObject, context: PluginContext): Promise<JsonValue>;
}

/** The hands of one call. */
export interface PluginContext {
  /** Aborts when the turn ends or the call takes too long. */
  signal: AbortSignal;
  /** The plugin's secrets that the agent has, by key. */
  secrets: Readonly<Record<string, string>>;
  agent: { readonly slug: string; readonly name: string; readonly timezone: string };
  /** Null: nothing of the turn is stored. */
  conversationId: string | null;
  /** The time, in milliseconds since the epoch. */
  now(): number;
  /**
   * Asks one of the plugin's hosts. Follows redirects within the first address's origin. Rejects with an `Error` that a
   * model may read when there is no answer, or one of more than 1 MiB.
   */
  request(request: PluginRequest): Promise<PluginAnswer>;
  /** Stores a file of the conversation: in the agent's S3 bucket, else on this machine. */
  saveFile(file: PluginFile): Promise<SavedFile>;
  /** A new link to a file of the same conversation. */
  linkFile(id: string): Promise<SavedFile>;
}

export interface PluginRequest {
  url: string;
  /** `GET` unless given. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON with its content type. */
  json?: JsonValue;
  /** Sent as it is, in place of `json`. */
  body?: string;
}

export interface PluginAnswer {
  status: number;
  /** By name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The text; a body that is no text is described in brackets. */
  body: string;
}

export interface PluginFile {
  name: string;
  mime: string;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface SavedFile {
  id: string;
  name: string;
  mime: string;
  /** In bytes. */
  size: number;
  /** Anybody with this address can read the file until `expiresAt`. */
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** Gives a plugin's description its types. */
export const definePlugin = (plugin: Plugin): Plugin => plugin;
