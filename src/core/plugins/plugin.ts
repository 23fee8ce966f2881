import type { JsonObject, JsonValue } from "../json.ts";

export type { JsonObject, JsonValue };

// The interface of all plugins, the engine's own and others, published as `agent-engine/plugin`.

/** A group of tools for agents. A tool is called `<namespace>:<tool>`. */
export interface Plugin {
  /** 1 to 32 lower-case letters, digits or dashes; the first is no dash. */
  namespace: string;
  /** Shown above the tools, such as `GitHub`. */
  title: string;
  /**
   * All hosts that the tools reach by `request`. `host` means https on port 443; `host:port` means that port, with
   * https or http. `*.example.com` means every host below it.
   */
  hosts: readonly string[];
  /** The agent secrets that the tools need. */
  secrets: readonly PluginSecret[];
  tools: readonly PluginTool[];
}

/** A secret of an agent. Plugins that declare the same key share its value. */
export interface PluginSecret {
  /** Lower-case letters, digits and `_`, at most 64. */
  key: string;
  type: "text" | "select";
  label?: string;
  description?: string;
  /** The choices of a `select`. */
  choices?: readonly string[];
  /** Whether the tools work without it. */
  optional?: boolean;
  /** False for a setting that people may see. */
  sensitive: boolean;
}

export interface PluginTool {
  /** The name without the namespace: letters, digits, `_` and `-`, at most 64. */
  name: string;
  /** The text by which a model decides whether to call the tool. */
  description: string;
  /**
   * A JSON Schema of type `object`. Arguments are checked against it before `execute`, except for its patterns and
   * references, which may take forever, and very long arguments.
   */
  parameters: JsonObject;
  /**
   * `external`: a call may change something outside of the engine, so it is never repeated. `none`: repeating a call is
   * harmless.
   */
  effect: "none" | "external";
  /** Whether each call needs a person's approval, unless the agent's operator has chosen otherwise. */
  needsApproval: boolean;
  /** Runs a call. Throws an `Error` with a message for the model. */
  execute(args: JsonObject, context: PluginContext): Promise<JsonValue>;
}

/** The functions and data that a call can use. */
export interface PluginContext {
  /** Aborts when the turn ends or the call takes too long. */
  signal: AbortSignal;
  /** The plugin's secrets that the agent has, by key. */
  secrets: Readonly<Record<string, string>>;
  agent: { readonly slug: string; readonly name: string; readonly timezone: string };
  /** Null when nothing of the turn is stored. */
  conversationId: string | null;
  /** The current time, in milliseconds since the epoch. */
  now(): number;
  /**
   * Sends a request to one of the plugin's hosts. Follows redirects within the origin of the first address. Rejects
   * with an `Error` for the model when there is no response, or one of more than 1 MiB.
   */
  request(request: PluginRequest): Promise<PluginAnswer>;
  /** Stores a file of the conversation in the agent's S3 bucket, or else on this machine. */
  saveFile(file: PluginFile): Promise<SavedFile>;
  /** Makes a new link to a file of the same conversation. */
  linkFile(id: string): Promise<SavedFile>;
}

export interface PluginRequest {
  url: string;
  /** `GET` by default. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, with its content type. */
  json?: JsonValue;
  /** Sent unchanged, instead of `json`. */
  body?: string;
}

export interface PluginAnswer {
  status: number;
  /** The headers, with lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** The text; a binary body is described in brackets. */
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
  /** Anyone with this address can read the file until `expiresAt`. */
  url: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** Gives the description of a plugin its type. */
export const definePlugin = (plugin: Plugin): Plugin => plugin;
