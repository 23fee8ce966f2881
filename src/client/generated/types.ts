// Made from openapi/openapi.json by `npm run generate`: change the routes instead.

import type { CallOptions } from "../options.ts";

export interface ChatCompletion {
  id: string;
  object: "chat.completion";
  created: number;
  model: string;
  choices: Array<{
    index: 0;
    message: {
      role: "assistant";
      content: string;
    };
    finish_reason: "stop";
  }>;
  usage: Usage;
}

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

export interface ErrorBody {
  statusCode: number;
  message: string;
  /** Reason phrase of the status. */
  error: string;
  issues?: Array<{
    path: string;
    message: string;
  }>;
  /** On a 500: what to look for in the log. */
  requestId?: string;
}

export interface CompletionRequest {
  /** Slug of the agent. */
  model: string;
  messages: Array<ChatMessage>;
  /** Answer as server-sent events. */
  stream?: boolean | null;
  /** Honoured only when the agent's `streamUsageEnabled` is on. */
  stream_options?: {
    include_usage?: boolean | null;
    [key: string]: unknown;
  } | null;
  /** The same `chat_id` continues the same conversation. */
  chat_id?: string | null;
  /** The end user, whose memories and budget the turn touches. */
  user?: string | null;
  /** Projected onto the conversation's state before the turn. */
  context?: unknown;
}

/** System, developer and tool messages are accepted and dropped. */
export interface ChatMessage {
  role: string;
  /** Text, or a list of `{type:"text"}` parts. */
  content?:
    | string
    | Array<{
        type: string;
        [key: string]: unknown;
      }>
    | null;
  [key: string]: unknown;
}

/** A server-sent event as an object of its fields, with `data` parsed. */
export type ChatEvent =
  | StepStartEvent
  | ReasoningDeltaEvent
  | ToolCallEvent
  | ToolResultEvent
  | TextDeltaEvent
  | StepFinishEvent
  | DoneEvent
  | ErrorEvent;

export interface StepStartEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "step-start";
  data: {
    /** Of the step, from 0. */
    index: number;
    stepType: "initial" | "tool-result" | "continue";
  };
}

export interface ReasoningDeltaEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "reasoning-delta";
  data: {
    text: string;
  };
}

export interface ToolCallEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "tool-call";
  data: {
    /** The same for a call and its result. */
    id: string;
    /** Canonical name of the tool. */
    name: string;
    /** What the model calls it with. */
    args?: unknown;
  };
}

export interface ToolResultEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "tool-result";
  data: {
    /** The same for a call and its result. */
    id: string;
    /** What the tool answered; `{ error }` when it failed. */
    result?: unknown;
  };
}

export interface TextDeltaEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "text-delta";
  data: {
    text: string;
  };
}

export interface StepFinishEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "step-finish";
  data: {
    /** Of the step, from 0. */
    index: number;
    /** The model's reason to end the step. */
    finishReason: string;
  };
}

export interface DoneEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "done";
  data: {
    /** Null after a refusal. */
    conversationId: string | null;
    /** The stored reply; null when nothing was stored. */
    messageId: string | null;
  };
}

export interface ErrorEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. */
  id: string;
  event: "error";
  data: {
    /** For the caller; `done` follows. */
    message: string;
  };
}

export interface ChatRequest {
  messages: Array<ChatMessage>;
  /** The same `chat_id` continues the same conversation. */
  chat_id?: string | null;
  /** The end user, whose memories and budget the turn touches. */
  user?: string | null;
  /** Projected onto the conversation's state before the turn. */
  context?: unknown;
}

export interface ModelList {
  object: "list";
  data: Array<{
    /** Slug of the agent. */
    id: string;
    object: "model";
    created: number;
    /** Slug of the organization. */
    owned_by: string;
  }>;
}

export interface Health {
  status: "ok" | "stopping";
  timestamp: string;
  service: "agent-engine";
  version: string;
}

export interface Installed {
  user: Account;
  organization: {
    slug: string;
  };
}

export interface Account {
  id: string;
  email: string;
  name: string;
}

export interface SetUp {
  /** From the link that the server prints at its first start. */
  token: string;
  /** Upper case counts as lower case. */
  email: string;
  /** 8 to 256 characters. */
  password: string;
  /** The part of the e-mail before `@` when absent. */
  name?: string;
  /** Slug of the first organization; `default`. */
  organization?: string;
}

export interface SignedIn {
  /** Send it as `Authorization: Bearer <token>`. Lives for 30 days after its last use. */
  token: string;
  user: Account;
}

export interface SignIn {
  /** Upper case counts as lower case. */
  email: string;
  password: string;
}

export interface Success {
  success: true;
}

export interface Me {
  user: {
    id: string;
    email: string;
    name: string;
    /** What the panel remembers. */
    onboarding: Record<string, unknown>;
    organizations: Array<{
      slug: string;
      name: string;
      /** owner, admin, member or viewer. */
      roleKey: string;
    }>;
  };
}

export interface ManagementKeys {
  managementKeys: Array<ManagementKey>;
}

export interface ManagementKey {
  id: string;
  name: string;
  /** The key's first characters, to tell keys apart. */
  prefix: string;
  expiresAt: string | null;
  createdAt: string;
  /** To the hour. */
  lastUsedAt: string | null;
}

export interface CreatedManagementKey {
  id: string;
  name: string;
  /** The key's first characters, to tell keys apart. */
  prefix: string;
  expiresAt: string | null;
  createdAt: string;
  /** The key itself. It is shown here and never again. */
  key: string;
}

export interface NewManagementKey {
  /** What it is for. */
  name: string;
  /** In the future; absent or null: it does not expire. */
  expiresAt?: string | null;
}

export interface Deleted {
  deleted: true;
}

export interface InstanceList {
  instances: Array<Instance>;
}

export interface Instance {
  id: string;
  /** The agent's address, and its `model` in the chat API. */
  slug: string;
  /** Shown to people. */
  name: string;
  description: string;
  /** Who reaches it reaches the agent. */
  workspaceId: string;
  /** The same as `active`, in words. */
  status: "active" | "inactive";
  /** An inactive agent answers no one but the playground. */
  active: boolean;
  /** Null: the installation's default. */
  provider: "openai" | "anthropic" | "google" | "mistral" | "ollama" | "openai-compatible" | "demo" | null;
  /** Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model: string | null;
  /** For background work: titles, memories, matching. */
  fastModel: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled: boolean;
  /** Send each turn to the tracing backend. */
  tracingEnabled: boolean;
  /** The project's exact name in the tracing backend. */
  tracingProject: string | null;
  /** Remember facts about end users. */
  memoryEnabled: boolean;
  /** Search the organization's documents. */
  knowledgeEnabled: boolean;
  /** Ask the model to reason, where it can. */
  thinkingEnabled: boolean;
  /** Null: the provider's. */
  temperature: number | null;
  /** Of one model call; null: the provider's. */
  maxOutputTokens: number | null;
  /** Model calls in one turn, at most. */
  maxSteps: number;
  /** Earlier messages that the model sees. */
  historyLimit: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled: boolean;
  /** Keep more of each turn for looking into it. */
  debugEnabled: boolean;
  /** Store files that come with messages. */
  attachmentsEnabled: boolean;
  /** Send a usage chunk to requests with `stream_options.include_usage`. */
  streamUsageEnabled: boolean;
  /** Wait for more messages of a burst. Null: the policy's. */
  debounceMs: number | null;
  /** Before typing is shown. Null: the policy's. */
  typingDelayMs: number | null;
  /** Of a turn by newer messages. Null: the policy's. */
  maxRestarts: number | null;
  /** IANA name. */
  timezone: string;
  /** Tokens a calendar month; null: no limit. */
  monthlyTokenBudget: number | null;
  /** Let end users of messengers stop and resume the agent by keyword. */
  optoutEnabled: boolean;
  optoutStopKeywords: Array<string>;
  optoutResumeKeywords: Array<string>;
  /** Sent to an end user who stops; null: nothing. */
  optoutClosingMessage: string | null;
  /** Sent to an end user who resumes; null: nothing. */
  optoutResumeMessage: string | null;
  /** Whether the chat routes answer; set on the channel `web`. */
  webEnabled: boolean;
  /** Grows with every change; send it as `If-Match`. */
  revision: number;
  icon: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface InstanceAnswer {
  instance: Instance;
}

export interface NewAgent {
  /** Shown to people. */
  name?: string;
  description?: string;
  /** Who reaches it reaches the agent. */
  workspaceId?: string;
  /** The same as `active`, in words. */
  status?: "active" | "inactive";
  /** An inactive agent answers no one but the playground. */
  active?: boolean;
  /** Null: the installation's default. */
  provider?: "openai" | "anthropic" | "google" | "mistral" | "ollama" | "openai-compatible" | "demo" | null;
  /** Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model?: string | null;
  /** For background work: titles, memories, matching. */
  fastModel?: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled?: boolean;
  /** Send each turn to the tracing backend. */
  tracingEnabled?: boolean;
  /** The project's exact name in the tracing backend. */
  tracingProject?: string | null;
  /** Remember facts about end users. */
  memoryEnabled?: boolean;
  /** Search the organization's documents. */
  knowledgeEnabled?: boolean;
  /** Ask the model to reason, where it can. */
  thinkingEnabled?: boolean;
  /** Null: the provider's. */
  temperature?: number | null;
  /** Of one model call; null: the provider's. */
  maxOutputTokens?: number | null;
  /** Model calls in one turn, at most. */
  maxSteps?: number;
  /** Earlier messages that the model sees. */
  historyLimit?: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled?: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled?: boolean;
  /** Keep more of each turn for looking into it. */
  debugEnabled?: boolean;
  /** Store files that come with messages. */
  attachmentsEnabled?: boolean;
  /** Send a usage chunk to requests with `stream_options.include_usage`. */
  streamUsageEnabled?: boolean;
  /** Wait for more messages of a burst. Null: the policy's. */
  debounceMs?: number | null;
  /** Before typing is shown. Null: the policy's. */
  typingDelayMs?: number | null;
  /** Of a turn by newer messages. Null: the policy's. */
  maxRestarts?: number | null;
  /** IANA name. */
  timezone?: string;
  /** Tokens a calendar month; null: no limit. */
  monthlyTokenBudget?: number | null;
  /** Let end users of messengers stop and resume the agent by keyword. */
  optoutEnabled?: boolean;
  optoutStopKeywords?: Array<string>;
  optoutResumeKeywords?: Array<string>;
  /** Sent to an end user who stops; null: nothing. */
  optoutClosingMessage?: string | null;
  /** Sent to an end user who resumes; null: nothing. */
  optoutResumeMessage?: string | null;
  /** Unique in the installation, and fixed once the agent is made. */
  slug: string;
}

export interface ModelCatalogue {
  providers: Record<
    string,
    {
      /** Whether the environment holds what the provider needs. */
      configured: boolean;
      models: Array<{
        id: string;
        tier: "fast" | "standard" | "heavy" | null;
      }>;
    }
  >;
  /** `provider:model` of each. */
  models: Array<string>;
}

export interface AgentChanges {
  /** Shown to people. */
  name?: string;
  description?: string;
  /** Who reaches it reaches the agent. */
  workspaceId?: string;
  /** The same as `active`, in words. */
  status?: "active" | "inactive";
  /** An inactive agent answers no one but the playground. */
  active?: boolean;
  /** Null: the installation's default. */
  provider?: "openai" | "anthropic" | "google" | "mistral" | "ollama" | "openai-compatible" | "demo" | null;
  /** Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model?: string | null;
  /** For background work: titles, memories, matching. */
  fastModel?: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled?: boolean;
  /** Send each turn to the tracing backend. */
  tracingEnabled?: boolean;
  /** The project's exact name in the tracing backend. */
  tracingProject?: string | null;
  /** Remember facts about end users. */
  memoryEnabled?: boolean;
  /** Search the organization's documents. */
  knowledgeEnabled?: boolean;
  /** Ask the model to reason, where it can. */
  thinkingEnabled?: boolean;
  /** Null: the provider's. */
  temperature?: number | null;
  /** Of one model call; null: the provider's. */
  maxOutputTokens?: number | null;
  /** Model calls in one turn, at most. */
  maxSteps?: number;
  /** Earlier messages that the model sees. */
  historyLimit?: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled?: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled?: boolean;
  /** Keep more of each turn for looking into it. */
  debugEnabled?: boolean;
  /** Store files that come with messages. */
  attachmentsEnabled?: boolean;
  /** Send a usage chunk to requests with `stream_options.include_usage`. */
  streamUsageEnabled?: boolean;
  /** Wait for more messages of a burst. Null: the policy's. */
  debounceMs?: number | null;
  /** Before typing is shown. Null: the policy's. */
  typingDelayMs?: number | null;
  /** Of a turn by newer messages. Null: the policy's. */
  maxRestarts?: number | null;
  /** IANA name. */
  timezone?: string;
  /** Tokens a calendar month; null: no limit. */
  monthlyTokenBudget?: number | null;
  /** Let end users of messengers stop and resume the agent by keyword. */
  optoutEnabled?: boolean;
  optoutStopKeywords?: Array<string>;
  optoutResumeKeywords?: Array<string>;
  /** Sent to an end user who stops; null: nothing. */
  optoutClosingMessage?: string | null;
  /** Sent to an end user who resumes; null: nothing. */
  optoutResumeMessage?: string | null;
}

export interface IconAnswer {
  icon: string;
}

export interface IconBody {
  /** PNG, JPEG or WebP. */
  icon: string;
}

export interface SecretList {
  secrets: Array<{
    key: string;
    /** Whether a value is stored. */
    configured: boolean;
  }>;
}

export interface SecretsBody {
  secrets: Array<{
    key: string;
    /** Never readable again. Empty: left as it is. */
    value: string;
  }>;
}

export interface ChannelList {
  channels: Array<Channel>;
}

export interface Channel {
  channelType: "web";
  enabled: boolean;
  config: {
    /** Whether a key is stored; it is never shown again. */
    apiKeyConfigured: boolean;
    /** The agent's `authEnabled`. */
    requireAuthentication: boolean;
    contextMapping: Record<string, string>;
    allowedOrigins: Array<string>;
  };
}

export interface ChannelAnswer {
  channel: Channel;
}

export interface ChannelChanges {
  /** Left out: as it is. */
  enabled?: boolean;
  config?: WebConfigChanges;
}

/** Merged into what is stored, field by field. */
export interface WebConfigChanges {
  /** Stored as the secret `auth_api_key`. Empty: left as it is. */
  apiKey?: string;
  /** The agent's `authEnabled`. */
  requireAuthentication?: boolean;
  /** Another name of `requireAuthentication`. */
  authEnabled?: boolean;
  /** Conversation-state key → dotted path in the request's `context`. At most 64 entries. */
  contextMapping?: Record<string, string>;
  /** Origins whose pages may call the chat routes from a browser; `*` for any. None to begin with. */
  allowedOrigins?: Array<string>;
}

export interface CreateChatCompletionInput {
  body: CompletionRequest & { stream?: false | null };
}

export interface StreamChatInput {
  slug: string;
  body: ChatRequest;
}

export interface SetUpInput {
  body: SetUp;
}

export interface SignInInput {
  body: SignIn;
}

export interface ListManagementKeysInput {
  /** Slug of the organization. */
  orgslug: string;
}

export interface CreateManagementKeyInput {
  /** Slug of the organization. */
  orgslug: string;
  body: NewManagementKey;
}

export interface DeleteManagementKeyInput {
  /** Slug of the organization. */
  orgslug: string;
  /** The key's id. */
  id: string;
}

export interface CreateAgentInput {
  body: NewAgent;
}

export interface GetAgentInput {
  /** The agent's slug. */
  slug: string;
}

export interface UpdateAgentInput {
  /** The agent's slug. */
  slug: string;
  /** The revision the change is based on, as `"3"`. Any other answers 412. */
  ifMatch?: string;
  body: AgentChanges;
}

export interface DeleteAgentInput {
  /** The agent's slug. */
  slug: string;
}

export interface GetAgentIconInput {
  /** The agent's slug. */
  slug: string;
  /** The version, as in the icon's address. */
  v?: string;
}

export interface PutAgentIconInput {
  /** The agent's slug. */
  slug: string;
  body?: IconBody | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;
}

export interface DeleteAgentIconInput {
  /** The agent's slug. */
  slug: string;
}

export interface ListAgentSecretsInput {
  /** The agent's slug. */
  slug: string;
}

export interface PutAgentSecretsInput {
  /** The agent's slug. */
  slug: string;
  body: SecretsBody;
}

export interface DeleteAgentSecretInput {
  /** The agent's slug. */
  slug: string;
  key: string;
}

export interface ListAgentChannelsInput {
  /** The agent's slug. */
  slug: string;
}

export interface PutAgentChannelInput {
  /** The agent's slug. */
  slug: string;
  /** This release has: web. */
  type: string;
  body: ChannelChanges;
}

export interface DeleteAgentChannelInput {
  /** The agent's slug. */
  slug: string;
  /** This release has: web. */
  type: string;
}

/** All operations of a server, by their `operationId`. */
export interface AgentEngine {
  /**
   * Chat with an agent, as chat-completions clients do.
   *
   * `model` is the agent's slug. With `chat_id` the server keeps the conversation; without it the messages are all there is.
   *
   * Streamed: chunks as `data:` lines, ended by `data: [DONE]`; the status is decided before the first output, and a later failure is a line `data: {"error":…}` without a finish reason.
   *
   * At most 20 requests a minute for each client address. With `X-Error-Format: openai` errors come in the vendor's shape.
   */
  createChatCompletion(input: CreateChatCompletionInput, options?: CallOptions): Promise<ChatCompletion>;

  /**
   * Chat with an agent and see everything that happens.
   *
   * Typed server-sent events: `step-start` { index, stepType }, `reasoning-delta` { text }, `tool-call` { id, name, args }, `tool-result` { id, result }, `text-delta` { text }, `step-finish` { index, finishReason }, `done` { conversationId, messageId }, `error` { message }.
   *
   * Each event has an id `<messageId>:<n>`; the comment `: ping` comes every 25 seconds. What fails after the stream opened is `error`, then `done`.
   */
  streamChat(input: StreamChatInput, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;

  /**
   * The agents that can be named as model.
   *
   * With an agent's key: that agent, while its Web channel is on. With a session: the active agents within reach. A management key is refused.
   */
  listModels(input?: Record<string, never>, options?: CallOptions): Promise<ModelList>;

  /**
   * Whether the server takes requests.
   *
   * Needs no authentication. Answers 503 only while the server is stopping.
   */
  getHealth(input?: Record<string, never>, options?: CallOptions): Promise<Health>;

  /**
   * Make the first owner.
   *
   * Takes the token of the one-time link that the server prints while nobody owns it, and makes the owner, an organization and its workspace `default`. Sign in afterwards.
   */
  setUp(input: SetUpInput, options?: CallOptions): Promise<Installed>;

  /**
   * Sign in with e-mail and password.
   *
   * Answers a session token and sets it as the cookie `agent_engine.session_token`. After 10 failures for an account, or 50 in all, an address waits for up to 15 minutes.
   */
  signIn(input: SignInInput, options?: CallOptions): Promise<SignedIn>;

  /**
   * Sign out.
   *
   * Ends the session of this call and clears its cookie. Other sessions of the user live on.
   */
  signOut(input?: Record<string, never>, options?: CallOptions): Promise<Success>;

  /**
   * Read the current user.
   *
   * The signed-in user with the organizations they belong to. A management key is nobody: 403.
   */
  getMe(input?: Record<string, never>, options?: CallOptions): Promise<Me>;

  /**
   * List management keys.
   *
   * The organization's keys, without the keys themselves. Needs a signed-in session.
   */
  listManagementKeys(input: ListManagementKeysInput, options?: CallOptions): Promise<ManagementKeys>;

  /**
   * Issue a management key.
   *
   * The key holds the Owner's permissions in this organization, outlives its issuer's role, and is shown only here. Needs a signed-in session.
   */
  createManagementKey(input: CreateManagementKeyInput, options?: CallOptions): Promise<CreatedManagementKey>;

  /**
   * Revoke a management key.
   *
   * The key stops working at once. Needs a signed-in session.
   */
  deleteManagementKey(input: DeleteManagementKeyInput, options?: CallOptions): Promise<Deleted>;

  /**
   * All agents within reach.
   *
   * By name, active or not. Owners and Admins reach every agent of the organization.
   */
  listAgents(input?: Record<string, never>, options?: CallOptions): Promise<InstanceList>;

  /**
   * Create an agent.
   *
   * Only `slug` is needed. Without `workspaceId` it joins the first workspace that the caller reaches. A new agent has its channel `web` off and wants its API key.
   */
  createAgent(input: CreateAgentInput, options?: CallOptions): Promise<InstanceAnswer>;

  /**
   * Providers and models to choose from.
   *
   * A choice, not a limit: an agent may name any model its provider knows. `configured` speaks of the environment; an agent's own secrets count as well.
   */
  listProviderModels(input?: Record<string, never>, options?: CallOptions): Promise<ModelCatalogue>;

  /**
   * Read an agent.
   *
   * With all its fields; never a secret.
   */
  getAgent(input: GetAgentInput, options?: CallOptions): Promise<InstanceAnswer>;

  /**
   * Change an agent.
   *
   * Fields that are left out stay as they are; null clears those that may be null.
   */
  updateAgent(input: UpdateAgentInput, options?: CallOptions): Promise<InstanceAnswer>;

  /**
   * Delete an agent.
   *
   * With its secrets, channels and conversations. There is no way back.
   */
  deleteAgent(input: DeleteAgentInput, options?: CallOptions): Promise<Deleted>;

  /**
   * The agent's icon.
   *
   * Under its address with `?v=` it may be kept by the browser for good; `If-None-Match` is answered with 304.
   */
  getAgentIcon(input: GetAgentIconInput, options?: CallOptions): Promise<Blob>;

  /**
   * Set the agent's icon.
   *
   * A PNG, JPEG or WebP of at most 512 KiB: as JSON with a `data:` address, or the picture itself as the body. What it is, its content decides; SVG is refused.
   */
  putAgentIcon(input: PutAgentIconInput, options?: CallOptions): Promise<IconAnswer>;

  /**
   * Remove the agent's icon.
   *
   * 404 when there is none.
   */
  deleteAgentIcon(input: DeleteAgentIconInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Which secrets an agent has.
   *
   * The well-known keys first, stored or not, then the agent's own. Values are never answered.
   */
  listAgentSecrets(input: ListAgentSecretsInput, options?: CallOptions): Promise<SecretList>;

  /**
   * Store secrets of an agent.
   *
   * Adds to what is stored and replaces equal keys; an empty value is skipped. Takes effect with the next turn. `auth_api_key` must be no other agent's.
   */
  putAgentSecrets(input: PutAgentSecretsInput, options?: CallOptions): Promise<SecretList>;

  /**
   * Delete a secret of an agent.
   *
   * Takes effect with the next turn. Deleting what is not there is fine.
   */
  deleteAgentSecret(input: DeleteAgentSecretInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Where an agent is reached.
   *
   * Each channel of this release, on or off. Credentials are never answered.
   */
  listAgentChannels(input: ListAgentChannelsInput, options?: CallOptions): Promise<ChannelList>;

  /**
   * Set up a channel and turn it on or off.
   *
   * Fields that are left out stay as they are. Web can't be turned on with authentication and without a key; a key in the same request counts.
   */
  putAgentChannel(input: PutAgentChannelInput, options?: CallOptions): Promise<ChannelAnswer>;

  /**
   * Turn a channel off.
   *
   * Web keeps its key and its context mapping. Turning off what is off is fine.
   */
  deleteAgentChannel(input: DeleteAgentChannelInput, options?: CallOptions): Promise<Deleted>;
}
