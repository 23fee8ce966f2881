// Made from openapi/openapi.json by `npm run generate`: change the routes instead.

import type { CallOptions } from "../options.ts";

export interface WebConfigChanges {
  /** Stored as the secret `auth_api_key`. At least 16 characters, and no other agent's. Empty: left as it is. */
  apiKey?: string;
  /** The agent's `authEnabled`. */
  requireAuthentication?: boolean;
  /** Another name of `requireAuthentication`. */
  authEnabled?: boolean;
  /** Conversation-state key → dotted path in the request's `context`. At most 64 entries. */
  contextMapping?: Record<string, string>;
  /** Origins whose pages may call the chat routes from a browser; `*` alone for any; no other wildcard. None to begin with. While `authEnabled` is off, requests from all others but the server's own are refused. */
  allowedOrigins?: Array<string>;
}

export interface TelegramConfigChanges {
  /** The bot's token. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  botToken?: string | null;
  /** Only these people are answered; empty: everyone. Who writes in the name of a group or channel is named by its id, such as -1001234567890. */
  allowedUserIds?: string;
  /** How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use. */
  transport?: "webhook" | "polling" | null;
}

export interface SlackConfigChanges {
  /** The app's bot token. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  botToken?: string | null;
  /** Needed for `webhook`: Slack signs its calls with it. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  signingSecret?: string | null;
  /** Needed for `socket`: an app-level token with connections:write. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  appToken?: string | null;
  /** How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use. */
  transport?: "webhook" | "socket" | null;
}

export interface WhatsAppConfigChanges {
  /** Told from the credentials when left out. */
  mode?: "auth_token" | "api_key";
  /** Twilio's account. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  accountSid?: string | null;
  /** For Auth Token mode. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  authToken?: string | null;
  /** For API Key mode. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  apiKeySid?: string | null;
  /** For API Key mode. Shown as •••• and its last 4 characters; those, or nothing, keep it, and null removes it. */
  apiKeySecret?: string | null;
  /** The sender's number: plain E.164. */
  whatsappNumber?: string;
  /** How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use. */
  transport?: "webhook" | null;
}

export type AgentConfigChanges = Record<string, unknown>;

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
  /** The end user, whose memories and budget the turn touches. Believed of who presents the agent's key; without it the conversation stands for its user. */
  user?: string | null;
  /** Values for the conversation's state, written before the turn by the mapping of the agent's Web channel. Needs `chat_id` and the agent's key, also while `authEnabled` is off. */
  context?: Record<string, unknown>;
}

/** System, developer, tool and function messages are accepted and dropped. */
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
  | HookExecutionEvent
  | StepStartEvent
  | ReasoningDeltaEvent
  | ToolCallEvent
  | ToolResultEvent
  | TextDeltaEvent
  | StepFinishEvent
  | DoneEvent
  | ErrorEvent;

export interface HookExecutionEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
  id: string;
  event: "hook-execution";
  data: {
    hookId: string;
    /** When it ran. Those after the model are told of behind the text. */
    event: "conversation_start" | "message_received" | "response_generated" | "response_sent";
    /** Canonical name of the tool. */
    toolName: string;
    success: boolean;
    durationMs: number;
  };
}

export interface StepStartEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
  id: string;
  event: "step-start";
  data: {
    /** Of the step, from 0. */
    index: number;
    stepType: "initial" | "tool-result" | "continue";
  };
}

export interface ReasoningDeltaEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
  id: string;
  event: "reasoning-delta";
  data: {
    text: string;
  };
}

export interface ToolCallEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
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
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
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
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
  id: string;
  event: "text-delta";
  data: {
    text: string;
  };
}

export interface StepFinishEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
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
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
  id: string;
  event: "done";
  data: {
    /** Null after a refusal. */
    conversationId: string | null;
    /** The stored reply; null when nothing was stored. */
    messageId: string | null;
    metadata?: DoneMetadata;
  };
}

export interface DoneMetadata {
  /** The hook whose words the reply is. */
  hookId?: string;
  /** The calls that wait for a decision, the first one apart. */
  approval?: {
    toolCallId: string | null;
    toolCallIds: Array<string>;
  };
}

export interface ErrorEvent {
  /** `<messageId>:<n>`: what a stream is resumed by. Empty in a stored reply, and before there is a turn. */
  id: string;
  event: "error";
  data: {
    /** For the caller; `done` follows. */
    message: string;
    /** Of a stream that ends before its turn. `resume_lost`: some events are gone for good, so read the conversation's messages. `unavailable`: resume again in a moment. */
    code?: "resume_lost" | "unavailable";
  };
}

export interface ChatRequest {
  messages: Array<ChatMessage>;
  /** The same `chat_id` continues the same conversation. */
  chat_id?: string | null;
  /** The end user, whose memories and budget the turn touches. Believed of who presents the agent's key; without it the conversation stands for its user. */
  user?: string | null;
  /** Values for the conversation's state, written before the turn by the mapping of the agent's Web channel. Needs `chat_id` and the agent's key, also while `authEnabled` is off. */
  context?: Record<string, unknown>;
}

export interface Stopped {
  /** False when the turn was over already. */
  stopped: boolean;
}

export interface ModelList {
  object: "list";
  data: Array<Model>;
}

export interface Model {
  /** Slug of the agent. */
  id: string;
  object: "model";
  created: number;
  /** Slug of the organization. */
  owned_by: string;
}

export interface Health {
  status: "ok" | "stopping";
  timestamp: string;
  service: "agent-engine";
  version: string;
  /** `opening`: the start has not opened it yet, and other requests wait. Then what the last statements met: `unavailable` when they found no database, or one that takes no writes. Health itself asks it nothing. */
  database: "opening" | "ready" | "unavailable";
}

export interface Ready {
  /** `opening`: the start has not opened the database yet. `stopping`: the server still works, but stops soon. `unavailable`: the database took no write within two seconds. */
  status: "ready" | "opening" | "stopping" | "unavailable";
}

export interface SetupState {
  /** Whether there is an owner. */
  installed: boolean;
  /** Whether the given token sets the installation up. */
  tokenValid: boolean;
  /** Whether the request carries a session, alive or not: a page can't see its cookie. */
  hasSession: boolean;
  /** Whether people may ask for a link to reset their password; absent where no mail is sent. */
  resetsByMail?: true;
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
  /** The edition of this server. */
  edition: "open" | "managed";
  /** The features that are on; none in the open edition. */
  features: Array<"administration" | "providers" | "knowledge" | "governance" | "channels">;
  /** Whether the user has all permissions in every organization; false in the open edition. */
  isPlatformAdmin: boolean;
  /** The Platform Admin who sees what this user sees; null for the user in person. */
  impersonatedBy: {
    id: string;
    name: string;
  } | null;
  user: {
    id: string;
    email: string;
    name: string;
    /** What the panel remembers. */
    onboarding: Record<string, unknown>;
    /** The user's own, as far as they are within reach. */
    organizations: Array<{
      slug: string;
      name: string;
      /** owner, admin, member, viewer, or the key of a custom role. */
      roleKey: string;
      /** The user's permissions there. `policy:manage` belongs to Owners of the first organization; once there are Platform Admins, to these alone. */
      permissions: Array<
        | "agent:read"
        | "agent.prompt:read"
        | "agent.tool:read"
        | "agent.skill:read"
        | "agent.channel:read"
        | "agent.room:read"
        | "agent.task:read"
        | "agent.knowledge:read"
        | "agent.governance:read"
        | "agent.playground:use"
        | "conversation:read"
        | "memory:read"
        | "analytics:read"
        | "skill.catalog:read"
        | "org:read"
        | "agent:write"
        | "agent.prompt:write"
        | "agent.tool:write"
        | "agent.skill:write"
        | "agent.channel:write"
        | "agent.room:write"
        | "agent.task:write"
        | "agent.knowledge:write"
        | "agent.export:read"
        | "memory:write"
        | "agent:delete"
        | "agent.secret:read"
        | "agent.secret:write"
        | "agent.governance:write"
        | "conversation:delete"
        | "skill.catalog:write"
        | "workspace.assignment:manage"
        | "org.member:manage"
        | "org.plugin:manage"
        | "org.secret:read"
        | "org.secret:write"
        | "audit_log:read"
        | "org:write"
        | "org.key:manage"
        | "org.role:manage"
        | "policy:manage"
      >;
    }>;
    /** Somebody else set the password and knows it. If that was a member or key of an organization, only that organization is within reach until it is changed. Absent otherwise. */
    passwordChangeRequired?: true;
  };
}

export interface MeChanges {
  /** What others see. */
  name?: string;
}

/** What is given is set, null removes a key, and the rest stays. */
export type OnboardingChange = Record<string, string | number | boolean | null>;

export interface PasswordChange {
  currentPassword: string;
  /** 8 to 256 characters. */
  newPassword: string;
}

export interface Sessions {
  sessions: Array<Session>;
}

export interface Session {
  id: string;
  /** Whether it is the session of this call. */
  current: boolean;
  /** Where it was opened; empty when unknown. */
  ip: string;
  /** What it was opened with; empty when unknown. */
  userAgent: string;
  createdAt: string;
  /** To the hour. */
  lastUsedAt: string;
  expiresAt: string;
}

export interface EndedSessions {
  deleted: true;
  /** How many sessions were ended. */
  count: number;
}

export interface Deleted {
  deleted: true;
}

export interface ChosenOrganization {
  organization: {
    slug: string;
    name: string;
    /** Null for a Platform Admin who is no member. */
    roleKey: string | null;
  };
}

export interface OrganizationChoice {
  /** Slug of the organization. */
  slug: string;
}

export interface PersonalTokens {
  tokens: Array<PersonalToken>;
}

export interface PersonalToken {
  id: string;
  name: string;
  /** The token's first characters, to tell tokens apart. */
  prefix: string;
  /** `installation`: works in every organization; for Platform Admins. */
  scope: "organization" | "installation";
  /** Where it works; null: in every organization. */
  organization: {
    slug: string;
    name: string;
  } | null;
  /** Null: all of its holder's. */
  permissions: Array<
    | "agent:read"
    | "agent.prompt:read"
    | "agent.tool:read"
    | "agent.skill:read"
    | "agent.channel:read"
    | "agent.room:read"
    | "agent.task:read"
    | "agent.knowledge:read"
    | "agent.governance:read"
    | "agent.playground:use"
    | "conversation:read"
    | "memory:read"
    | "analytics:read"
    | "skill.catalog:read"
    | "org:read"
    | "agent:write"
    | "agent.prompt:write"
    | "agent.tool:write"
    | "agent.skill:write"
    | "agent.channel:write"
    | "agent.room:write"
    | "agent.task:write"
    | "agent.knowledge:write"
    | "agent.export:read"
    | "memory:write"
    | "agent:delete"
    | "agent.secret:read"
    | "agent.secret:write"
    | "agent.governance:write"
    | "conversation:delete"
    | "skill.catalog:write"
    | "workspace.assignment:manage"
    | "org.member:manage"
    | "org.plugin:manage"
    | "org.secret:read"
    | "org.secret:write"
    | "audit_log:read"
    | "org:write"
    | "org.key:manage"
    | "org.role:manage"
    | "policy:manage"
  > | null;
  expiresAt: string;
  createdAt: string;
  /** To the hour. */
  lastUsedAt: string | null;
}

export interface CreatedPersonalToken {
  id: string;
  name: string;
  /** The token's first characters, to tell tokens apart. */
  prefix: string;
  /** `installation`: works in every organization; for Platform Admins. */
  scope: "organization" | "installation";
  /** Where it works; null: in every organization. */
  organization: {
    slug: string;
    name: string;
  } | null;
  /** Null: all of its holder's. */
  permissions: Array<
    | "agent:read"
    | "agent.prompt:read"
    | "agent.tool:read"
    | "agent.skill:read"
    | "agent.channel:read"
    | "agent.room:read"
    | "agent.task:read"
    | "agent.knowledge:read"
    | "agent.governance:read"
    | "agent.playground:use"
    | "conversation:read"
    | "memory:read"
    | "analytics:read"
    | "skill.catalog:read"
    | "org:read"
    | "agent:write"
    | "agent.prompt:write"
    | "agent.tool:write"
    | "agent.skill:write"
    | "agent.channel:write"
    | "agent.room:write"
    | "agent.task:write"
    | "agent.knowledge:write"
    | "agent.export:read"
    | "memory:write"
    | "agent:delete"
    | "agent.secret:read"
    | "agent.secret:write"
    | "agent.governance:write"
    | "conversation:delete"
    | "skill.catalog:write"
    | "workspace.assignment:manage"
    | "org.member:manage"
    | "org.plugin:manage"
    | "org.secret:read"
    | "org.secret:write"
    | "audit_log:read"
    | "org:write"
    | "org.key:manage"
    | "org.role:manage"
    | "policy:manage"
  > | null;
  expiresAt: string;
  createdAt: string;
  /** The token itself. It is shown here and never again. */
  token: string;
}

export interface NewPersonalToken {
  /** Its purpose. */
  name: string;
  /** In 90 days when absent, within 365; for `installation` in 24 hours, and not later. */
  expiresAt?: string;
  /** `organization` when absent. */
  scope?: "organization" | "installation";
  /** The token has those of them that its holder has at the time; all of the holder's when absent. */
  permissions?: Array<
    | "agent:read"
    | "agent.prompt:read"
    | "agent.tool:read"
    | "agent.skill:read"
    | "agent.channel:read"
    | "agent.room:read"
    | "agent.task:read"
    | "agent.knowledge:read"
    | "agent.governance:read"
    | "agent.playground:use"
    | "conversation:read"
    | "memory:read"
    | "analytics:read"
    | "skill.catalog:read"
    | "org:read"
    | "agent:write"
    | "agent.prompt:write"
    | "agent.tool:write"
    | "agent.skill:write"
    | "agent.channel:write"
    | "agent.room:write"
    | "agent.task:write"
    | "agent.knowledge:write"
    | "agent.export:read"
    | "memory:write"
    | "agent:delete"
    | "agent.secret:read"
    | "agent.secret:write"
    | "agent.governance:write"
    | "conversation:delete"
    | "skill.catalog:write"
    | "workspace.assignment:manage"
    | "org.member:manage"
    | "org.plugin:manage"
    | "org.secret:read"
    | "org.secret:write"
    | "audit_log:read"
    | "org:write"
    | "org.key:manage"
    | "org.role:manage"
    | "policy:manage"
  >;
}

export interface ForgotPassword {
  /** Upper case counts as lower case. */
  email: string;
}

export interface ResetPassword {
  /** From the link in the mail. */
  token: string;
  /** 8 to 256 characters. */
  password: string;
}

export interface Organizations {
  organizations: Array<Organization>;
}

export interface Organization {
  id: string;
  slug: string;
  name: string;
  /** The caller's role in it. Null for a Platform Admin who is no member, and in the answer to creating one for somebody else. */
  roleKey: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface OrganizationAnswer {
  organization: Organization;
}

export interface NewOrganization {
  slug: string;
  /** The slug when absent. */
  name?: string;
  /** Account that owns it; the caller when absent. */
  ownerEmail?: string;
}

export interface OrganizationChanges {
  /** What people call it. */
  name?: string;
  /** The old slug is free at once: paths and headers that use it answer 404. */
  slug?: string;
}

export interface OrganizationDeletion {
  /** The organization's slug. */
  confirm: string;
}

export interface Members {
  members: Array<Member>;
}

export interface Member {
  userId: string;
  email: string;
  name: string;
  /** owner, admin, member, viewer, or the key of a custom role. */
  roleKey: string;
  /** Whoever added this person to an organization still knows the password: better no Owner before it is changed. Absent otherwise. */
  passwordPending?: true;
}

export interface AddedMember {
  userId: string;
  email: string;
  name: string;
  /** owner, admin, member, viewer, or the key of a custom role. */
  roleKey: string;
  /** Only when it was generated for a new account. It is shown here and never again. */
  password?: string;
}

export interface Invited {
  /** The e-mail has an account, whose holder may join. */
  invited: true;
}

export interface NewMember {
  /** Upper case counts as lower case. */
  email: string;
  /** For a new account; the part of the e-mail before `@` when absent. */
  name?: string;
  /** `owner`, `admin`, `member`, `viewer`, or the key of one of the organization's own roles. Only an Owner may make, change or remove an Owner; a management key makes none. Nobody gives a role with a permission that they lack. */
  roleKey: string;
  /** For a new account; generated when absent. */
  password?: string;
}

export interface Assigned {
  assigned: true;
}

export interface RoleAssignment {
  /** `owner`, `admin`, `member`, `viewer`, or the key of one of the organization's own roles. Only an Owner may make, change or remove an Owner; a management key makes none. Nobody gives a role with a permission that they lack. */
  roleKey: string;
}

export interface Removed {
  removed: true;
}

export interface RenewedPassword {
  /** Shown here and never again. */
  password: string;
  /** How many sessions the member had. */
  sessionsEnded: number;
}

export interface Roles {
  roles: Array<Role>;
}

export interface Role {
  key: string;
  name: string;
  permissions: Array<
    | "agent:read"
    | "agent.prompt:read"
    | "agent.tool:read"
    | "agent.skill:read"
    | "agent.channel:read"
    | "agent.room:read"
    | "agent.task:read"
    | "agent.knowledge:read"
    | "agent.governance:read"
    | "agent.playground:use"
    | "conversation:read"
    | "memory:read"
    | "analytics:read"
    | "skill.catalog:read"
    | "org:read"
    | "agent:write"
    | "agent.prompt:write"
    | "agent.tool:write"
    | "agent.skill:write"
    | "agent.channel:write"
    | "agent.room:write"
    | "agent.task:write"
    | "agent.knowledge:write"
    | "agent.export:read"
    | "memory:write"
    | "agent:delete"
    | "agent.secret:read"
    | "agent.secret:write"
    | "agent.governance:write"
    | "conversation:delete"
    | "skill.catalog:write"
    | "workspace.assignment:manage"
    | "org.member:manage"
    | "org.plugin:manage"
    | "org.secret:read"
    | "org.secret:write"
    | "audit_log:read"
    | "org:write"
    | "org.key:manage"
    | "org.role:manage"
    | "policy:manage"
  >;
  /** Whether it reaches every workspace. */
  allWorkspaces: boolean;
  /** Whether every organization has it: it can't be changed. */
  builtin: boolean;
  /** How many members have it. */
  holders: number;
}

export interface RoleAnswer {
  role: Role;
}

export interface NewRole {
  key: string;
  name: string;
  /** Its permissions; never `policy:manage`, `org.key:manage`, `org.role:manage`, `org:write`. */
  permissions: Array<
    | "agent:read"
    | "agent.prompt:read"
    | "agent.tool:read"
    | "agent.skill:read"
    | "agent.channel:read"
    | "agent.room:read"
    | "agent.task:read"
    | "agent.knowledge:read"
    | "agent.governance:read"
    | "agent.playground:use"
    | "conversation:read"
    | "memory:read"
    | "analytics:read"
    | "skill.catalog:read"
    | "org:read"
    | "agent:write"
    | "agent.prompt:write"
    | "agent.tool:write"
    | "agent.skill:write"
    | "agent.channel:write"
    | "agent.room:write"
    | "agent.task:write"
    | "agent.knowledge:write"
    | "agent.export:read"
    | "memory:write"
    | "agent:delete"
    | "agent.secret:read"
    | "agent.secret:write"
    | "agent.governance:write"
    | "conversation:delete"
    | "skill.catalog:write"
    | "workspace.assignment:manage"
    | "org.member:manage"
    | "org.plugin:manage"
    | "org.secret:read"
    | "org.secret:write"
    | "audit_log:read"
    | "org:write"
    | "org.key:manage"
    | "org.role:manage"
    | "policy:manage"
  >;
  /** Whether the role reaches every workspace; false when absent: those that the member was added to. */
  allWorkspaces?: boolean;
}

export interface RoleChanges {
  name: string;
  /** Its permissions; never `policy:manage`, `org.key:manage`, `org.role:manage`, `org:write`. */
  permissions: Array<
    | "agent:read"
    | "agent.prompt:read"
    | "agent.tool:read"
    | "agent.skill:read"
    | "agent.channel:read"
    | "agent.room:read"
    | "agent.task:read"
    | "agent.knowledge:read"
    | "agent.governance:read"
    | "agent.playground:use"
    | "conversation:read"
    | "memory:read"
    | "analytics:read"
    | "skill.catalog:read"
    | "org:read"
    | "agent:write"
    | "agent.prompt:write"
    | "agent.tool:write"
    | "agent.skill:write"
    | "agent.channel:write"
    | "agent.room:write"
    | "agent.task:write"
    | "agent.knowledge:write"
    | "agent.export:read"
    | "memory:write"
    | "agent:delete"
    | "agent.secret:read"
    | "agent.secret:write"
    | "agent.governance:write"
    | "conversation:delete"
    | "skill.catalog:write"
    | "workspace.assignment:manage"
    | "org.member:manage"
    | "org.plugin:manage"
    | "org.secret:read"
    | "org.secret:write"
    | "audit_log:read"
    | "org:write"
    | "org.key:manage"
    | "org.role:manage"
    | "policy:manage"
  >;
  /** Whether the role reaches every workspace; false when absent: those that the member was added to. */
  allWorkspaces?: boolean;
}

export interface SentInvitations {
  invitations: Array<SentInvitation>;
}

export interface SentInvitation {
  id: string;
  /** The offered role. */
  roleKey: string;
  /** The name of the person or management key. */
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
  email: string;
}

export interface Invitations {
  invitations: Array<Invitation>;
}

export interface Invitation {
  id: string;
  /** The offered role. */
  roleKey: string;
  /** The name of the person or management key. */
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
  organization: {
    slug: string;
    name: string;
  };
}

export interface InvitationAnswered {
  accepted: boolean;
  /** The one that was joined. */
  organization?: {
    slug: string;
    name: string;
    /** The offered role. */
    roleKey: string;
  };
}

export interface InvitationReply {
  accept: boolean;
}

export interface Workspaces {
  workspaces: Array<Workspace>;
}

export interface Workspace {
  id: string;
  name: string;
  /** Agents in it, inactive ones too. */
  agentCount: number;
  /** Users with an entry of their own. Owners and Admins reach every workspace without one. */
  memberCount: number;
  createdAt: string;
  updatedAt: string;
}

export interface WorkspaceAnswer {
  workspace: Workspace;
}

export interface WorkspaceName {
  /** Unique in the organization, whatever its case. */
  name: string;
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
  /** Its purpose. */
  name: string;
  /** In the future; absent or null: it does not expire. */
  expiresAt?: string | null;
}

export interface Users {
  users: Array<User>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
}

export interface User {
  id: string;
  email: string;
  name: string;
  isPlatformAdmin: boolean;
  /** Whether the user may sign in. */
  active: boolean;
  /** The memberships, by slug. Change them with the members of each organization. */
  organizations: Array<{
    slug: string;
    name: string;
    roleKey: string;
  }>;
}

export interface UserAnswer {
  user: User;
}

export interface NewUser {
  /** Upper case counts as lower case. */
  email: string;
  /** The part of the e-mail before `@` when absent. */
  name?: string;
  /** 8 to 256 characters. */
  password: string;
  /** Whether the user has every permission in every organization. */
  isPlatformAdmin?: boolean;
  /** Whether the user may sign in; true when absent. */
  active?: boolean;
}

export interface UserChanges {
  /** Upper case counts as lower case. */
  email?: string;
  name?: string;
  /** 8 to 256 characters. */
  password?: string;
  /** Whether the user has every permission in every organization. */
  isPlatformAdmin?: boolean;
  /** False ends the user's sessions, tokens and streams. */
  active?: boolean;
}

export interface UserPassword {
  /** 8 to 256 characters. */
  password: string;
}

export interface ImpersonationToken {
  /** Send it as `Authorization: Bearer <token>`. Shown here and never again. */
  token: string;
  expiresAt: string;
}

export interface Impersonation {
  /** For the audit logs; 10 to 500 characters. */
  reason: string;
  /** 30 when absent. */
  minutes?: number;
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
  /** 1 to 200 letters, digits and `. _ : @ / -`, without empty, `.` or `..` parts between slashes. Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model: string | null;
  /** The model for background work: titles and summaries of conversations, memories, matching of events; `model` or `provider:model`. With `null` no model is asked in the background: a title is the beginning of the first message, there are no summaries, and nothing is learned but what the tools save. */
  fastModel: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled: boolean;
  /** Send each turn to the tracing backend; the secret `tracing_api_key` names the project. */
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
  /** Model calls in one turn, at most. The last one may call no tools, so that the model answers. One that still asks for tools is called once more, without any; if it says nothing then, the turn has failed. */
  maxSteps: number;
  /** Earlier messages that the model sees. */
  historyLimit: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled: boolean;
  /** Keep of each turn how it came to its reply; `GET /api/conversations/{conversationId}/turns/{turnId}` shows it. */
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
  /** Tokens a calendar month of each end user; null: no limit. An end user is the `user` of a request with the agent's key or a messenger's user, else the conversation: who needs no key has a new budget with each new `chat_id`, and needs none without one. `monthlyTokenBudget` limits them too. */
  userMonthlyTokenBudget: number | null;
  /** What the agent may cost a calendar month, by the prices of its models. In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature `providers`, else ignored; a budget that is set stays in force. */
  monthlyCostBudget: number | null;
  /** What each end user may cost a calendar month; end users are those of `userMonthlyTokenBudget`. In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature `providers`, else ignored; a budget that is set stays in force. */
  userMonthlyCostBudget: number | null;
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
  /** The channels that are on and whose messenger refuses them: their `lastError` says why. */
  failingChannels: Array<{
    channelType: string;
    /** Null: it is not known since when. */
    since: string | null;
  }>;
  /** Why the model that is configured to answer may not, so that calls are 503: its provider connection is disabled or without key, or the workspace does not admit it. Null otherwise, and without the feature `providers` of the managed edition. */
  providerProblem: "not-admitted" | "disabled" | "no-key" | null;
  /** Grows with every change; send it as `If-Match`. */
  revision: number;
  icon: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface InstanceAnswer {
  instance: Instance;
  /** What is wrong with its settings though they were accepted; absent for nothing. */
  warnings?: Array<string>;
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
  /** 1 to 200 letters, digits and `. _ : @ / -`, without empty, `.` or `..` parts between slashes. Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model?: string | null;
  /** The model for background work: titles and summaries of conversations, memories, matching of events; `model` or `provider:model`. With `null` no model is asked in the background: a title is the beginning of the first message, there are no summaries, and nothing is learned but what the tools save. */
  fastModel?: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled?: boolean;
  /** Send each turn to the tracing backend; the secret `tracing_api_key` names the project. */
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
  /** Model calls in one turn, at most. The last one may call no tools, so that the model answers. One that still asks for tools is called once more, without any; if it says nothing then, the turn has failed. */
  maxSteps?: number;
  /** Earlier messages that the model sees. */
  historyLimit?: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled?: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled?: boolean;
  /** Keep of each turn how it came to its reply; `GET /api/conversations/{conversationId}/turns/{turnId}` shows it. */
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
  /** Tokens a calendar month of each end user; null: no limit. An end user is the `user` of a request with the agent's key or a messenger's user, else the conversation: who needs no key has a new budget with each new `chat_id`, and needs none without one. `monthlyTokenBudget` limits them too. */
  userMonthlyTokenBudget?: number | null;
  /** What the agent may cost a calendar month, by the prices of its models. In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature `providers`, else ignored; a budget that is set stays in force. */
  monthlyCostBudget?: number | null;
  /** What each end user may cost a calendar month; end users are those of `userMonthlyTokenBudget`. In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature `providers`, else ignored; a budget that is set stays in force. */
  userMonthlyCostBudget?: number | null;
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
  /** 1 to 200 letters, digits and `. _ : @ / -`, without empty, `.` or `..` parts between slashes. Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model?: string | null;
  /** The model for background work: titles and summaries of conversations, memories, matching of events; `model` or `provider:model`. With `null` no model is asked in the background: a title is the beginning of the first message, there are no summaries, and nothing is learned but what the tools save. */
  fastModel?: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled?: boolean;
  /** Send each turn to the tracing backend; the secret `tracing_api_key` names the project. */
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
  /** Model calls in one turn, at most. The last one may call no tools, so that the model answers. One that still asks for tools is called once more, without any; if it says nothing then, the turn has failed. */
  maxSteps?: number;
  /** Earlier messages that the model sees. */
  historyLimit?: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled?: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled?: boolean;
  /** Keep of each turn how it came to its reply; `GET /api/conversations/{conversationId}/turns/{turnId}` shows it. */
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
  /** Tokens a calendar month of each end user; null: no limit. An end user is the `user` of a request with the agent's key or a messenger's user, else the conversation: who needs no key has a new budget with each new `chat_id`, and needs none without one. `monthlyTokenBudget` limits them too. */
  userMonthlyTokenBudget?: number | null;
  /** What the agent may cost a calendar month, by the prices of its models. In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature `providers`, else ignored; a budget that is set stays in force. */
  monthlyCostBudget?: number | null;
  /** What each end user may cost a calendar month; end users are those of `userMonthlyTokenBudget`. In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature `providers`, else ignored; a budget that is set stays in force. */
  userMonthlyCostBudget?: number | null;
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

export interface AgentBundle {
  /** Of the format. Imports also take 1.0 to 1.5. */
  version: "1.3";
  exportedAt?: string;
  type: "instance";
  instance: BundledInstance;
}

export interface BundledInstance {
  /** Unique in the installation, and fixed once the agent is made. */
  slug: string;
  /** Shown to people. */
  name?: string;
  description?: string;
  /** An inactive agent answers no one but the playground. */
  active?: boolean;
  /** Null: the installation's default. */
  provider?: "openai" | "anthropic" | "google" | "mistral" | "ollama" | "openai-compatible" | "demo" | null;
  /** 1 to 200 letters, digits and `. _ : @ / -`, without empty, `.` or `..` parts between slashes. Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read. */
  model?: string | null;
  /** The model for background work: titles and summaries of conversations, memories, matching of events; `model` or `provider:model`. With `null` no model is asked in the background: a title is the beginning of the first message, there are no summaries, and nothing is learned but what the tools save. */
  fastModel?: string | null;
  /** Whether chat needs the agent's API key. */
  authEnabled?: boolean;
  /** Send each turn to the tracing backend; the secret `tracing_api_key` names the project. */
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
  /** Model calls in one turn, at most. The last one may call no tools, so that the model answers. One that still asks for tools is called once more, without any; if it says nothing then, the turn has failed. */
  maxSteps?: number;
  /** Earlier messages that the model sees. */
  historyLimit?: number;
  /** Show the conversation's state to the model. */
  stateInPromptEnabled?: boolean;
  /** Show results of earlier tool calls to the model. */
  toolResultsInHistoryEnabled?: boolean;
  /** Keep of each turn how it came to its reply; `GET /api/conversations/{conversationId}/turns/{turnId}` shows it. */
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
  /** Tokens a calendar month of each end user; null: no limit. An end user is the `user` of a request with the agent's key or a messenger's user, else the conversation: who needs no key has a new budget with each new `chat_id`, and needs none without one. `monthlyTokenBudget` limits them too. */
  userMonthlyTokenBudget?: number | null;
  /** Let end users of messengers stop and resume the agent by keyword. */
  optoutEnabled?: boolean;
  optoutStopKeywords?: Array<string>;
  optoutResumeKeywords?: Array<string>;
  /** Sent to an end user who stops; null: nothing. */
  optoutClosingMessage?: string | null;
  /** Sent to an end user who resumes; null: nothing. */
  optoutResumeMessage?: string | null;
  /** The picture itself: PNG, JPEG or WebP, at most 512 KiB. */
  icon?: string | null;
  /** The sections that were written; the others are the engine's own. */
  prompts?: Array<{
    key:
      | "01-identity"
      | "02-soul"
      | "03-tooling"
      | "04-safety"
      | "05-skills"
      | "06-memory"
      | "07-user-identity"
      | "08-datetime";
    content: string;
  }>;
  /** By slug. Their texts are in the catalogue. */
  skills?: Array<{
    /** In the catalogue. */
    skillSlug: string;
    enabled?: boolean;
    /** Whether the whole content is in the prompt. */
    autoLoad?: boolean;
    /** Null, or one that the catalogue lacks: its current one. */
    pinnedVersion?: string | null;
  }>;
  /** Tools that somebody chose. Left out: those of a new agent. */
  manualTools?: Array<string>;
  /** Tools whose calls a person decides about, also ones that a skill turns on. Left out: as each tool has it when it is turned on. */
  toolsNeedingApproval?: Array<string>;
  /** Which secrets there are; never a value. */
  secrets?: Array<{
    key: string;
    /** Whether the exported agent has a value. */
    configured?: boolean;
  }>;
  /** Without credentials. */
  channels?: Array<
    | {
        channelType: "web";
        enabled?: boolean;
        config?: {
          /** Conversation-state key → dotted path in the request's `context`. At most 64 entries. */
          contextMapping?: Record<string, string>;
          /** Origins whose pages may call the chat routes from a browser; `*` alone for any; no other wildcard. None to begin with. While `authEnabled` is off, requests from all others but the server's own are refused. */
          allowedOrigins?: Array<string>;
        };
      }
    | {
        channelType: "telegram";
        enabled?: boolean;
        config?: {
          /** Only these people are answered; empty: everyone. Who writes in the name of a group or channel is named by its id, such as -1001234567890. */
          allowedUserIds?: string;
          /** How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use. */
          transport?: "webhook" | "polling" | null;
        };
      }
    | {
        channelType: "slack";
        enabled?: boolean;
        config?: {
          /** How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use. */
          transport?: "webhook" | "socket" | null;
        };
      }
    | {
        channelType: "whatsapp";
        enabled?: boolean;
        config?: {
          /** Told from the credentials when left out. */
          mode?: "auth_token" | "api_key";
          /** The sender's number: plain E.164. */
          whatsappNumber?: string;
          /** How messages come. Null, or never said: `webhook` where the public address is https and no local name, else the other. The answer shows the one in use. */
          transport?: "webhook" | null;
        };
      }
    | {
        channelType: "agent";
        enabled?: boolean;
        config?: Record<string, unknown>;
      }
  >;
  /** Variables of skills, with the values of those that are not sensitive. */
  skillEnv?: Array<{
    /** In the catalogue. */
    skillSlug: string;
    env: Array<{
      /** Any text; by convention UPPER_SNAKE_CASE. */
      key: string;
      sensitive?: boolean;
      /** Of one that is not sensitive. */
      value?: string;
      /** Of a sensitive one: whether the exported agent has a value, which no bundle holds. */
      configured?: boolean;
    }>;
  }>;
  /** In the order in which they run. */
  hooks?: Array<NewHook>;
  /** Null: none. */
  room?: {
    /** While it is off, the agent takes no turns in it, and no event goes into its backlog. */
    enabled?: boolean;
    /** What the agent is to do in the Room, told to it in each of its turns. Without one it takes turns for events only. */
    prompt?: string;
    /** The channel over which results reach people; null for none. */
    outboundChannel?: "telegram" | "slack" | "whatsapp" | "agent" | null;
    /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
    outboundTarget?: string | null;
    /** With a prompt: after so many minutes without events the agent takes a turn of its own; 0 for never. Events that wait are picked up within 30 seconds whatever it is. */
    evalIntervalMinutes?: number;
  } | null;
  /** By name, without addresses and keys. An import makes a new address for a new name. */
  eventSources?: Array<{
    /** For people. */
    name: string;
    /** What kind of system sends the events, in words of your own. */
    sourceType: string;
    /** Notes of your own about the sender, at most 16 KB, shown as they are: a key belongs into `authKey`. */
    config?: Record<string, unknown>;
    /** An event of a source that is off is answered and stands in the ledger, and nothing else. */
    enabled?: boolean;
    /** Whether calls had to bring a key, which no bundle holds. */
    authKeyConfigured?: boolean;
    definitions?: Array<NewEventDefinition>;
  }>;
  /** By name. Those that the agent made by its tool are not among them. */
  scheduledTasks?: Array<NewScheduledTask>;
}

export interface NewHook {
  /** When it runs: before the first message of a conversation, before each message, when the reply is complete, and after it was sent (where it is sent as a whole, just before: the reply waits for it). */
  event: "conversation_start" | "message_received" | "response_generated" | "response_sent";
  /** A hook calls a tool. */
  actionType?: "tool";
  actionConfig: HookAction;
  /** On `response_generated` only: the text that the tool answers becomes the reply, which nobody sees before. */
  mutates?: boolean;
  enabled?: boolean;
  /** Behind all others unless given. */
  position?: number;
  /** How long the call may take. */
  timeoutMs?: number;
}

export interface HookAction {
  /** Canonical name of the tool. It need not be on for the model. */
  toolName: string;
  /** What the tool is called with, at most 16 KB. In its texts `{{instance.slug}}`, `{{conversation.id}}`, `{{channel.type}}`, `{{channel.id}}`, `{{user.name}}`, `{{message.text}}`, `{{response.text}}` and `{{state.KEY}}` are filled in. */
  args?: Record<string, unknown>;
}

export interface NewEventDefinition {
  /** For people. */
  name: string;
  /** Which events it is about. The matcher's model reads it, and answers yes or no for each event. */
  matchingPrompt?: string;
  /** `conversation` runs a turn at once; `backlog` has the Room's next turn handle the event. */
  action: "conversation" | "backlog";
  /** For `backlog`: what the Room's turn is told about the event. `{{payload}}` and `{{payload.a.b}}` are filled in as data. Without one the payload follows the prompt. */
  interpretationPrompt?: string;
  /** For `conversation`: what the turn begins with. `{{payload}}` and `{{payload.a.b}}` are filled in as data. Without one the payload follows the prompt. */
  contextPrompt?: string;
  /** Behind all others unless given. */
  priority?: number;
  /** What must hold before the model is asked, which costs tokens: all of it. */
  conditions?: Array<EventCondition>;
  /** The channel over which results reach people; null for none. */
  outboundChannel?: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget?: string | null;
  enabled?: boolean;
  /** Another name of `matchingPrompt`. */
  description?: string;
}

export interface EventCondition {
  /** Where the value stands in the payload: names of fields and indexes of lists, with dots between them. A name that has dots itself stands quoted in brackets: `labels["app.kubernetes.io/name"]`. */
  path: string;
  /** What the value must be, its type included. All values of a form are strings, and so are whole numbers beyond 9007199254740991. */
  equals: string | number | boolean | null;
}

export interface NewScheduledTask {
  name: string;
  /** What the agent is told when the task runs. */
  prompt: string;
  schedule: Schedule;
  /** While it is false the task never runs by itself. */
  enabled?: boolean;
  /** Whether the task is deleted, with its runs, once one is completed. */
  deleteAfterRun?: boolean;
  /** How often a run that failed is tried again. */
  maxRetries?: number;
  /** What becomes of times that passed while nothing could run: with `run` the last one is run late, and the others are recorded; with `skip` all are recorded only. */
  onMissed?: "run" | "skip";
  /** The channel over which results reach people; null for none. */
  outboundChannel?: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget?: string | null;
}

export type Schedule =
  | {
      type: "cron";
      /** Five fields: minute, hour, day of the month, month, day of the week. `@daily` and its like count too. */
      expression: string;
      /** IANA name. The expression names local times of this zone. */
      timezone: string;
    }
  | {
      type: "interval";
      /** From 1 minute to 366 days. */
      everyMs: number;
    }
  | {
      type: "one-shot";
      /** With a zone. */
      runAt: string;
    };

export interface ImportedAgent {
  /** The agent's slug. */
  slug: string;
  /** The slug, by its name in other answers. */
  instanceId: string;
  /** What was done otherwise than the bundle says, and what is left to do. */
  warnings: Array<ImportWarning>;
}

export interface ImportWarning {
  type:
    | "unknown_field"
    | "managed_only"
    | "credential_ignored"
    | "secret_missing"
    | "web_key_missing"
    | "channel_credentials_missing"
    | "channel_unsupported"
    | "skill_missing"
    | "skill_version_missing"
    | "tool_unusable"
    | "schedule_past";
  message: string;
  /** Where in the bundle. */
  path: string;
}

export interface Prompts {
  prompts: Array<Prompt>;
  /** The agent's revision; send it as `If-Match` with a change. */
  revision: number;
}

export interface Prompt {
  key:
    | "01-identity"
    | "02-soul"
    | "03-tooling"
    | "04-safety"
    | "05-skills"
    | "06-memory"
    | "07-user-identity"
    | "08-datetime";
  filename: string;
  title: string;
  /** The text with its placeholders; empty: the section is left out. */
  content: string;
  /** Whether it is the engine's own text: none is stored. */
  isDefault: boolean;
}

export interface PromptChanges {
  sections: Array<{
    key:
      | "01-identity"
      | "02-soul"
      | "03-tooling"
      | "04-safety"
      | "05-skills"
      | "06-memory"
      | "07-user-identity"
      | "08-datetime";
    /** Empty: the section is left out. Null, and the default's own text: the default. */
    content: string | null;
  }>;
}

export interface PromptPreview {
  /** The system prompt as the model would get it now. */
  prompt: string;
}

export interface PromptDraft {
  sections?: Array<{
    key:
      | "01-identity"
      | "02-soul"
      | "03-tooling"
      | "04-safety"
      | "05-skills"
      | "06-memory"
      | "07-user-identity"
      | "08-datetime";
    /** Empty: the section is left out. Null, and the default's own text: the default. */
    content: string | null;
  }>;
}

export interface SecretList {
  secrets: Array<{
    key: string;
    /** Whether a value is stored. */
    configured: boolean;
  }>;
  /** Only after a change: the stored keys of providers that were deleted with it. */
  dropped?: Array<string>;
}

export interface SecretsBody {
  secrets: Array<{
    key: string;
    /** Never readable again. Empty: left as it is. At least 6 characters, but for addresses, places and settings of plugins that are not sensitive. */
    value: string;
  }>;
}

export interface SkillList {
  skills: Array<Skill>;
}

export interface Skill {
  name: string;
  /** Names it in paths. */
  slug: string;
  description: string;
  category: string;
  requiredEnv: Array<RequiredEnv>;
  requiredTools: Array<string>;
  content: string;
  version: string;
}

export interface RequiredEnv {
  /** Any text; by convention UPPER_SNAKE_CASE. */
  name: string;
  description?: string;
  /** Whether its value is never shown. */
  sensitive?: boolean;
  /** When it lists any, the value goes to these hosts only, so it must be sensitive. `host` is by https at its own port, 443; `host:port` is that port. */
  hosts?: Array<string>;
}

/** `tags`, `language`, `requiredSecrets`, `dependsOnTools`, `version` and `scripts` are refused; other unknown fields are ignored. */
export interface NewSkill {
  /** Fixed once the skill is made. Its slug is made from it and must be free. */
  name: string;
  category?: string;
  /** One line; tells the model when to use the skill. */
  description: string;
  /** Markdown. A `---` block in it stays text. */
  content: string;
  requiredEnv?: Array<RequiredEnv>;
  /** Turned on with the skill; a plugin's as `<namespace>:<tool>`. */
  requiredTools?: Array<string>;
}

/** `tags`, `language`, `requiredSecrets`, `dependsOnTools`, `version` and `scripts` are refused; other unknown fields are ignored. */
export interface SkillChanges {
  /** May be sent as it is; another one is refused. */
  name?: string;
  /** Stays as it is when left out. */
  category?: string;
  /** One line; tells the model when to use the skill. */
  description: string;
  /** Markdown. A `---` block in it stays text. */
  content: string;
  requiredEnv?: Array<RequiredEnv>;
  /** Turned on with the skill; a plugin's as `<namespace>:<tool>`. */
  requiredTools?: Array<string>;
  /** What changed. */
  changelog?: string | null;
}

export interface SkillVersions {
  versions: Array<{
    /** A rollback takes it, too. */
    id: string;
    version: string;
    changelog: string | null;
    createdAt: string;
  }>;
}

export interface SkillVersion {
  name: string;
  /** Names it in paths. */
  slug: string;
  description: string;
  category: string;
  requiredEnv: Array<RequiredEnv>;
  requiredTools: Array<string>;
  content: string;
  version: string;
  /** A rollback takes it, too. */
  id: string;
  changelog: string | null;
  createdAt: string;
}

/** At most 5000 versions in all. */
export interface SkillImport {
  skills: Array<ImportedSkill>;
}

export interface ImportedSkill {
  /** Fixed once the skill is made. Its slug is made from it and must be free. */
  name: string;
  category?: string;
  /** One line; tells the model when to use the skill. */
  description: string;
  /** Markdown. A `---` block in it stays text. */
  content: string;
  requiredEnv?: Array<RequiredEnv>;
  /** Turned on with the skill; a plugin's as `<namespace>:<tool>`. */
  requiredTools?: Array<string>;
  /** JavaScript that the tool `runSkillScript` runs in a sandbox. */
  scripts?: Array<SkillScript>;
  /** The history, in any order; the versions keep their numbers. */
  versions?: Array<ImportedSkillVersion>;
}

export interface SkillScript {
  file: string;
  description?: string;
  content: string;
}

export interface ImportedSkillVersion {
  version: string;
  /** One line; tells the model when to use the skill. */
  description: string;
  /** Markdown. A `---` block in it stays text. */
  content: string;
  requiredEnv?: Array<RequiredEnv>;
  /** Turned on with the skill; a plugin's as `<namespace>:<tool>`. */
  requiredTools?: Array<string>;
  /** JavaScript that the tool `runSkillScript` runs in a sandbox. */
  scripts?: Array<SkillScript>;
  changelog?: string | null;
  /** Absent: now. */
  createdAt?: string;
}

export interface AllowedSkills {
  /** Slugs. */
  skills: Array<string>;
}

export interface Allowed {
  allowed: true;
}

export interface AgentSkills {
  skills: Array<AgentSkill>;
}

export interface AgentSkill {
  /** The slug. */
  name: string;
  /** The skill's name in the catalogue. */
  displayName: string;
  description: string;
  category: string;
  requiredEnv: Array<RequiredEnv>;
  requiredTools: Array<string>;
  enabled: boolean;
  /** By the workspace. One that is not is never served, enabled or not. */
  allowed: boolean;
  /** Whether the whole content stands in the prompt of each turn. */
  autoLoad: boolean;
  /** Whether every variable it requires has a value. */
  envConfigured: boolean;
  /** What the agent uses; null unless enabled. */
  pinnedVersion: string | null;
  currentVersion: string;
  /** Whether an upgrade would change the version. */
  hasUpdate: boolean;
  missingEnv: Array<string>;
  /** Tools it requires that the agent can't have now. */
  missingTools: Array<string>;
}

export interface AgentSkillsChanged {
  skills: Array<AgentSkill>;
  /** Tools that the agent gained and lost by it. */
  toolsChanged: {
    enabled: Array<string>;
    disabled: Array<string>;
  };
}

export interface EnabledSkills {
  /** The complete set, by slug or name. */
  enabled: Array<string>;
}

export interface SkillUpgraded {
  upgraded: true;
  skill: AgentSkill;
}

export interface SkillRolledBack {
  rolledBack: true;
  skill: AgentSkill;
}

export interface SkillRollback {
  /** Id or number of a version. Absent: the one pinned before. */
  versionId?: string;
}

export interface SkillAutoLoadAnswer {
  autoLoad: boolean;
}

export interface SkillAutoLoad {
  /** Absent: the other way round. */
  autoLoad?: boolean;
}

export interface SkillEnv {
  env: Array<{
    key: string;
    /** Empty when sensitive, stored or not. */
    value: string;
    sensitive: boolean;
    /** Whether a value is stored. */
    configured: boolean;
    /** What the skill says about it. */
    description: string;
  }>;
}

export interface SkillEnvBody {
  env: Array<{
    /** Any text; by convention UPPER_SNAKE_CASE. */
    key: string;
    value: string;
    /** Whether its value is never shown; absent: as stored, else as the skill says, else true. */
    sensitive?: boolean;
  }>;
}

export interface SkillImportAnswer {
  /** Skills that are new. */
  created: number;
  /** Skills that got a version, or another category. */
  updated: number;
  /** Skills that were the same already. */
  skipped: number;
  /** Files of an archive that skills have no use for. */
  ignored: Array<string>;
}

export interface ChannelList {
  channels: Array<Channel>;
}

export type Channel = WebChannel | TelegramChannel | SlackChannel | WhatsAppChannel | AgentChannel;

export interface WebChannel {
  channelType: "web";
  enabled: boolean;
  /** `starting` until the messenger took the credentials and knows where to deliver; `failing` when it refused, and `lastError` says why. Web and agent run when they are on. */
  status: "off" | "starting" | "running" | "failing";
  /** Why the messenger can't be used, if so; of a `running` channel why its last message waits or was given up, such as an outage of the messenger, or a person who blocked the bot. The next message that the messenger takes clears it. */
  lastError: string | null;
  /** When the last message of a person came in, over a messenger. */
  lastReceivedAt: string | null;
  /** When the messenger last took a message. */
  lastSentAt: string | null;
  config: WebConfig;
}

export interface WebConfig {
  /** Whether a key is stored; it is never shown again. */
  apiKeyConfigured: boolean;
  /** The agent's `authEnabled`. */
  requireAuthentication: boolean;
  contextMapping: Record<string, string>;
  allowedOrigins: Array<string>;
}

export interface TelegramChannel {
  channelType: "telegram";
  enabled: boolean;
  /** `starting` until the messenger took the credentials and knows where to deliver; `failing` when it refused, and `lastError` says why. Web and agent run when they are on. */
  status: "off" | "starting" | "running" | "failing";
  /** Why the messenger can't be used, if so; of a `running` channel why its last message waits or was given up, such as an outage of the messenger, or a person who blocked the bot. The next message that the messenger takes clears it. */
  lastError: string | null;
  /** When the last message of a person came in, over a messenger. */
  lastReceivedAt: string | null;
  /** When the messenger last took a message. */
  lastSentAt: string | null;
  config: TelegramConfig;
}

export interface TelegramConfig {
  /** The stored one, as a mask; absent when there is none. */
  botToken?: string;
  /** Only these people are answered. A person who is taken off gets nothing more in a private chat of what was asked for earlier, scheduled tasks included. */
  allowedUserIds?: string;
  /** The one in use. */
  transport: "webhook" | "polling";
  /** What the messenger calls, where messages come by webhook. One with a secret in it is shown to who may change channels. */
  webhookUrl?: string;
}

export interface SlackChannel {
  channelType: "slack";
  enabled: boolean;
  /** `starting` until the messenger took the credentials and knows where to deliver; `failing` when it refused, and `lastError` says why. Web and agent run when they are on. */
  status: "off" | "starting" | "running" | "failing";
  /** Why the messenger can't be used, if so; of a `running` channel why its last message waits or was given up, such as an outage of the messenger, or a person who blocked the bot. The next message that the messenger takes clears it. */
  lastError: string | null;
  /** When the last message of a person came in, over a messenger. */
  lastReceivedAt: string | null;
  /** When the messenger last took a message. */
  lastSentAt: string | null;
  config: SlackConfig;
}

export interface SlackConfig {
  /** The stored one, as a mask; absent when there is none. */
  botToken?: string;
  /** The stored one, as a mask; absent when there is none. */
  signingSecret?: string;
  /** The stored one, as a mask; absent when there is none. */
  appToken?: string;
  /** The one in use. */
  transport: "webhook" | "socket";
  /** What the messenger calls, where messages come by webhook. One with a secret in it is shown to who may change channels. */
  webhookUrl?: string;
}

export interface WhatsAppChannel {
  channelType: "whatsapp";
  enabled: boolean;
  /** `starting` until the messenger took the credentials and knows where to deliver; `failing` when it refused, and `lastError` says why. Web and agent run when they are on. */
  status: "off" | "starting" | "running" | "failing";
  /** Why the messenger can't be used, if so; of a `running` channel why its last message waits or was given up, such as an outage of the messenger, or a person who blocked the bot. The next message that the messenger takes clears it. */
  lastError: string | null;
  /** When the last message of a person came in, over a messenger. */
  lastReceivedAt: string | null;
  /** When the messenger last took a message. */
  lastSentAt: string | null;
  config: WhatsAppConfig;
}

export interface WhatsAppConfig {
  /** Absent before the first save. */
  mode?: "auth_token" | "api_key";
  /** The stored one, as a mask; absent when there is none. */
  accountSid?: string;
  /** The stored one, as a mask; absent when there is none. */
  authToken?: string;
  /** The stored one, as a mask; absent when there is none. */
  apiKeySid?: string;
  /** The stored one, as a mask; absent when there is none. */
  apiKeySecret?: string;
  /** The sender's number. */
  whatsappNumber?: string;
  transport: "webhook";
  /** What the messenger calls, where messages come by webhook. One with a secret in it is shown to who may change channels. */
  webhookUrl?: string;
}

export interface AgentChannel {
  channelType: "agent";
  enabled: boolean;
  /** `starting` until the messenger took the credentials and knows where to deliver; `failing` when it refused, and `lastError` says why. Web and agent run when they are on. */
  status: "off" | "starting" | "running" | "failing";
  /** Why the messenger can't be used, if so; of a `running` channel why its last message waits or was given up, such as an outage of the messenger, or a person who blocked the bot. The next message that the messenger takes clears it. */
  lastError: string | null;
  /** When the last message of a person came in, over a messenger. */
  lastReceivedAt: string | null;
  /** When the messenger last took a message. */
  lastSentAt: string | null;
  config: AgentConfig;
}

export type AgentConfig = Record<string, unknown>;

export interface ChannelAnswer {
  channel: Channel;
}

export interface ChannelChanges {
  /** Left out: as it is. */
  enabled?: boolean;
  /** The settings of the channel's type. Merged into what is stored, field by field; a field that the type does not have is refused. What the answer shows may be sent back. */
  config?: WebConfigChanges | TelegramConfigChanges | SlackConfigChanges | WhatsAppConfigChanges | AgentConfigChanges;
}

export interface ChannelTest {
  /** Whether all checks went well. */
  ok: boolean;
  checks: Array<{
    /** `credentials`: whether the messenger takes them. `webhook`: whether it calls this server. Slack and Twilio do not say: then `ok` is true, and `message` tells what a person has to compare there. `reachable`: whether its calls arrive. */
    name: "credentials" | "webhook" | "reachable";
    ok: boolean;
    message: string;
  }>;
}

export interface ChannelMessagePage {
  messages: Array<ChannelMessage>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
}

export interface ChannelMessage {
  id: string;
  /** `in`: from people; `out`: to them. */
  direction: "in" | "out";
  /** `pending`: waits to be answered or sent; `sending`: on its way, or its messenger's answer was lost; `sent`, or `done` for one that was answered; `dropped`: not to be answered, such as a keyword that stops the agent; `failed`: given up, see `error`. */
  status: "pending" | "sending" | "sent" | "done" | "dropped" | "failed";
  /** Null: it belongs to none. */
  conversationId: string | null;
  /** Who wrote it, or where it goes: a person's, a chat's or a channel's id at the messenger. */
  peer: string;
  /** Null for callers without `conversation:read`. */
  text: string | null;
  /** Why it failed, or what its last try met. */
  error: string | null;
  /** How often it was tried, with the time that it was answered, sent or given up; being asked to send less often counts as no try. */
  attempts: number;
  /** Whether it was sent again although the messenger may have had it: its answer was lost. */
  mayBeRepeated: boolean;
  /** The turn that answers or sends it. */
  turnId: string | null;
  createdAt: string;
  sentAt: string | null;
}

export interface RetriedMessage {
  message: ChannelMessage;
}

export interface EventAnswer {
  /** Whether the event is stored; not, whether anything comes of it. */
  ok: boolean;
  /** Only where it is not. */
  error?: "payload too large" | "unknown token" | "unsupported content type" | "invalid payload";
}

export interface RoomEventPage {
  events: Array<RoomEvent>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
}

export interface RoomEvent {
  id: string;
  /** Null: the source was deleted. */
  eventSourceId: string | null;
  receivedAt: string;
  /** What came, as JSON. With the outcome `invalid-payload` its text, or null for one that was too large. */
  payload?: unknown;
  /** In the order in which the matcher asked. */
  verdicts: Array<EventVerdict>;
  /** `pending`: waits for the matcher; `conversation`, `backlog`: what the matching definition wants was done; `no-match`; `backlog-full`: 100 entries waited already; `room-off`: the Room is off, or the agent inactive; `source-disabled`; `invalid-payload`: it could not be read; `matcher-failed`. See `reason`. */
  outcome:
    | "pending"
    | "conversation"
    | "backlog"
    | "no-match"
    | "backlog-full"
    | "room-off"
    | "source-disabled"
    | "invalid-payload"
    | "matcher-failed";
  /** The definition that matches. */
  definitionId: string | null;
  /** Why it came to nothing, where something is to be said, or why the reply of its conversation was not delivered. */
  reason: string | null;
  /** The conversation that it began. */
  conversationId: string | null;
  /** Its entry in the backlog. */
  backlogId: string | null;
  /** The event that was handled again as this one. */
  replayOf: string | null;
}

export interface EventVerdict {
  definitionId: string;
  /** The model's answer, cut after 500 characters; null where a condition made the question needless. */
  answer: string | null;
  matched: boolean;
  at: string;
  condition?: EventCondition & unknown;
  /** Why the answer decides nothing, in words. */
  warning?: string;
}

export interface RoomEventAnswer {
  event: RoomEvent;
}

export interface ReplayedEvent {
  /** The new event. */
  id: string;
}

export type Room = NoRoom | ConfiguredRoom;

export interface NoRoom {
  configured: false;
}

export interface ConfiguredRoom {
  configured: true;
  id: string;
  /** While it is off, the agent takes no turns in it, and no event goes into its backlog. */
  enabled: boolean;
  /** What the agent is to do in the Room, told to it in each of its turns. Without one it takes turns for events only. */
  prompt: string;
  /** The channel over which results reach people; null for none. */
  outboundChannel: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget: string | null;
  /** With a prompt: after so many minutes without events the agent takes a turn of its own; 0 for never. Events that wait are picked up within 30 seconds whatever it is. */
  evalIntervalMinutes: number;
  /** The one conversation of the Room's own turns. */
  conversationId: string;
  /** How many entries of the backlog wait. */
  pendingEventCount: number;
  createdAt: string;
  updatedAt: string;
}

export interface RoomSaved {
  success: true;
}

export interface RoomChanges {
  /** While it is off, the agent takes no turns in it, and no event goes into its backlog. */
  enabled?: boolean;
  /** What the agent is to do in the Room, told to it in each of its turns. Without one it takes turns for events only. */
  prompt?: string;
  /** The channel over which results reach people; null for none. */
  outboundChannel?: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget?: string | null;
  /** With a prompt: after so many minutes without events the agent takes a turn of its own; 0 for never. Events that wait are picked up within 30 seconds whatever it is. */
  evalIntervalMinutes?: number;
}

export interface RoomQueued {
  queued: true;
}

export interface BacklogPage {
  events: Array<BacklogEntry>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
}

export interface BacklogEntry {
  /** The entry's id. */
  id: string;
  /** The definition that the event matched; null: it was deleted. */
  eventDefinitionId: string | null;
  /** What came, as JSON. */
  rawPayload?: unknown;
  matchedAt: string;
  /** `pending`: waits for a turn of the agent; `processing`: a turn works on it; `completed`: the agent says that it is done; `failed`: given up after 3 turns, see `error`; `discarded`: by an operator, or with the Room. */
  status: "pending" | "processing" | "completed" | "failed" | "discarded";
  /** When it was completed, given up or discarded. 30 days later it is forgotten. */
  completedAt: string | null;
  /** What the agent noted of its work. */
  reactNotes: string | null;
  /** How many turns worked on it. */
  attempts: number;
  /** Why the last attempt came to nothing; of a `completed` one, why what the turn sent that completed it was not delivered. */
  error: string | null;
  /** No turn takes it up before; null: the next one does. */
  notBefore: string | null;
}

export interface BacklogEntryAnswer {
  event: BacklogEntry;
}

export interface BacklogEntryChange {
  /** `discarded`: it is not to be handled; `pending`: it is to be handled again. */
  status: "discarded" | "pending";
}

export interface EventSource {
  id: string;
  /** For people. */
  name: string;
  /** What kind of system sends the events, in words of your own. */
  sourceType: string;
  /** Notes of your own about the sender, at most 16 KB, shown as they are: a key belongs into `authKey`. */
  config: Record<string, unknown>;
  /** An event of a source that is off is answered and stands in the ledger, and nothing else. */
  enabled: boolean;
  /** Only for callers with `agent.room:write`: who knows it can send events. */
  webhookToken?: string;
  /** Only for callers with `agent.room:write`. */
  webhookUrl?: string;
  /** Whether calls must bring a key. */
  authKeyConfigured: boolean;
  /** In the order in which the matcher asks. */
  definitions: Array<EventDefinition>;
  createdAt: string;
  updatedAt: string;
}

export interface EventDefinition {
  id: string;
  /** For people. */
  name: string;
  /** Which events it is about. The matcher's model reads it, and answers yes or no for each event. */
  matchingPrompt: string;
  /** `conversation` runs a turn at once; `backlog` has the Room's next turn handle the event. */
  action: "conversation" | "backlog";
  /** For `backlog`: what the Room's turn is told about the event. `{{payload}}` and `{{payload.a.b}}` are filled in as data. Without one the payload follows the prompt. */
  interpretationPrompt: string;
  /** For `conversation`: what the turn begins with. `{{payload}}` and `{{payload.a.b}}` are filled in as data. Without one the payload follows the prompt. */
  contextPrompt: string;
  /** The matcher asks in this order until one matches; by age where it is equal. */
  priority: number;
  /** What must hold before the model is asked, which costs tokens: all of it. */
  conditions: Array<EventCondition>;
  /** The channel over which results reach people; null for none. */
  outboundChannel: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget: string | null;
  enabled: boolean;
  createdAt: string;
  updatedAt: string;
}

export interface EventSourceAddress {
  id: string;
  /** The credential in the address: 43 characters, 256 bits. */
  webhookToken: string;
  /** Where the sender posts its events. */
  webhookUrl: string;
}

export interface NewEventSource {
  /** For people. */
  name: string;
  /** What kind of system sends the events, in words of your own. */
  sourceType: string;
  /** Notes of your own about the sender, at most 16 KB, shown as they are: a key belongs into `authKey`. */
  config?: Record<string, unknown>;
  /** An event of a source that is off is answered and stands in the ledger, and nothing else. */
  enabled?: boolean;
  /** What each call must bring as `Authorization: Bearer <authKey>`. Never shown; null for none. Without one the address is the only credential. */
  authKey?: string | null;
}

export interface EventSourceChanges {
  /** For people. */
  name?: string;
  /** What kind of system sends the events, in words of your own. */
  sourceType?: string;
  /** Notes of your own about the sender, at most 16 KB, shown as they are: a key belongs into `authKey`. */
  config?: Record<string, unknown>;
  /** An event of a source that is off is answered and stands in the ledger, and nothing else. */
  enabled?: boolean;
  /** What each call must bring as `Authorization: Bearer <authKey>`. Never shown; null for none. Without one the address is the only credential. */
  authKey?: string | null;
}

export interface EventDefinitionChanges {
  /** For people. */
  name?: string;
  /** Which events it is about. The matcher's model reads it, and answers yes or no for each event. */
  matchingPrompt?: string;
  /** `conversation` runs a turn at once; `backlog` has the Room's next turn handle the event. */
  action?: "conversation" | "backlog";
  /** For `backlog`: what the Room's turn is told about the event. `{{payload}}` and `{{payload.a.b}}` are filled in as data. Without one the payload follows the prompt. */
  interpretationPrompt?: string;
  /** For `conversation`: what the turn begins with. `{{payload}}` and `{{payload.a.b}}` are filled in as data. Without one the payload follows the prompt. */
  contextPrompt?: string;
  /** The matcher asks in this order until one matches; by age where it is equal. */
  priority?: number;
  /** What must hold before the model is asked, which costs tokens: all of it. */
  conditions?: Array<EventCondition>;
  /** The channel over which results reach people; null for none. */
  outboundChannel?: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget?: string | null;
  enabled?: boolean;
  /** Another name of `matchingPrompt`. */
  description?: string;
}

export interface DryRun {
  outcome: "conversation" | "backlog" | "no-match" | "room-off" | "backlog-full" | "matcher-failed";
  /** The definition that matches; null for none. */
  definition: {
    id: string;
    name: string;
    action: "conversation" | "backlog";
  } | null;
  /** In the order of asking, up to the one that matches. */
  verdicts: Array<EventVerdict>;
  /** What the agent would be told: the definition's prompt, filled in. The marks around data are other ones each time. */
  prompt: string | null;
  /** Why nothing would be done, in words. */
  reason: string | null;
}

export interface TriedPayload {
  /** Any JSON, as a webhook would bring it; of a form, an object of strings, and a whole number beyond 9007199254740991 as one. */
  payload: unknown;
}

export interface SchedulerHealth {
  /** `stalled` when this process has not looked for due work for two minutes, or can't ask its database. */
  status: "ok" | "stalled";
  /** How many turns of Rooms this process takes at a time. */
  slots: {
    total: number;
    free: number;
  };
  /** Entries of all backlogs that wait; null while the database can't be asked. */
  pending: number | null;
  /** Turns of Rooms and scheduled tasks whose process has been silent for over a minute and that no other process has taken over; null while the database can't be asked. */
  stuckRuns: number | null;
  /** When this process looked for due work the last time, which it does every 30 seconds. */
  lastTickAt: string | null;
}

export interface ScheduledTaskPage {
  scheduledTasks: Array<ScheduledTask>;
  total: number;
  limit: number;
  offset: number;
}

export interface ScheduledTask {
  id: string;
  name: string;
  /** What the agent is told when the task runs. */
  prompt: string;
  schedule: Schedule;
  /** While it is false the task never runs by itself. */
  enabled: boolean;
  /** Whether the task is deleted, with its runs, once one is completed. */
  deleteAfterRun: boolean;
  /** How often a run that failed is tried again. */
  maxRetries: number;
  /** What becomes of times that passed while nothing could run: with `run` the last one is run late, and the others are recorded; with `skip` all are recorded only. */
  onMissed: "run" | "skip";
  /** The channel over which results reach people; null for none. */
  outboundChannel: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget: string | null;
  /** Who made it: a caller of the API, or the agent by its tool `scheduleTask`. */
  source: "api" | "agent";
  /** The end user for whom the agent made it; empty for a task of the API. */
  subject: string;
  /** Null: it is for nobody in particular. */
  subjectChannel: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
  /** The name of the end user, where it is known. */
  userName: string | null;
  /** When the task is due next; null when it never is again, and while it is not enabled. */
  nextRunAt: string | null;
  /** The newest run, also one that was missed; null when there is none. */
  lastRun: {
    status: "queued" | "running" | "completed" | "failed" | "missed" | "skipped";
    at: string;
    /** Why it failed, or why its result was not delivered; null for neither. */
    error: string | null;
  } | null;
  createdAt: string;
  updatedAt: string;
}

export interface ScheduledTaskChanges {
  name?: string;
  /** What the agent is told when the task runs. */
  prompt?: string;
  schedule?: Schedule;
  /** While it is false the task never runs by itself. */
  enabled?: boolean;
  /** Whether the task is deleted, with its runs, once one is completed. */
  deleteAfterRun?: boolean;
  /** How often a run that failed is tried again. */
  maxRetries?: number;
  /** What becomes of times that passed while nothing could run: with `run` the last one is run late, and the others are recorded; with `skip` all are recorded only. */
  onMissed?: "run" | "skip";
  /** The channel over which results reach people; null for none. */
  outboundChannel?: "telegram" | "slack" | "whatsapp" | "agent" | null;
  /** Where the channel delivers. Telegram: the number of a chat, or `@channel`, with `/<topic>` behind it for a topic. Slack: the id of a channel, person or thread. WhatsApp: a phone number in E.164, with or without `whatsapp:`. Agent: the slug of another agent. A topic or thread is shown behind a colon, and a phone number without `whatsapp:`. */
  outboundTarget?: string | null;
}

export interface BegunRun {
  /** The run's id. */
  id: string;
}

export interface TaskRunPage {
  runs: Array<TaskRun>;
  total: number;
  limit: number;
  offset: number;
}

export interface TaskRun {
  id: string;
  /** `missed`: nothing could run at that time. `skipped`: an earlier run had not ended, or the person who asked the agent for the task stopped the agent or is not in the channel's `allowedUserIds` any more. `running` is also one that waits for somebody's approval. */
  status: "queued" | "running" | "completed" | "failed" | "missed" | "skipped";
  /** `schedule`: on time. `missed`: late, for a time that was missed. `manual`: a call of `/run`. */
  triggerType: "schedule" | "manual" | "missed";
  /** The time for which it was planned. */
  dueAt: string;
  startedAt: string | null;
  /** When it ended, well or not. */
  completedAt: string | null;
  /** From its start to its end, retries included. */
  durationMs: number | null;
  /** How often it was begun. */
  attempts: number;
  /** How many earlier times were missed with this one, and are no runs of their own. */
  alsoMissed: number;
  /** What the agent said; null once its conversation is deleted. */
  output: string | null;
  /** Why it failed or did not take place, or why it is tried again; of a `completed` one, why its result was not delivered. */
  error: string | null;
  /** The conversation of the run; null when it did not take place. */
  conversationId: string | null;
}

export interface PoliciesAnswer {
  policies: Policies;
}

export interface Policies {
  /** Where clients and messengers reach the installation: `BASE_URL` unless this policy is set. */
  publicAddress: string;
  /** For agents that name no model; null: the first provider with a key decides. */
  defaultModel: string | null;
  /** Whose agents may use the provider keys and addresses of the server's environment. */
  environmentKeys: "all" | "first-organization" | "none";
  /** Messages of a conversation within this time of each other are one turn. */
  debounceMs: number;
  /** How long before a typing sign is sent. */
  typingDelayMs: number;
  /** How often new messages may restart a turn. */
  maxRestarts: number;
  /** Calls of management routes, of the native stream and of `/v1/models` that each caller may make in a window: a user, a management key, an agent's key at a client address, and without valid credentials an address. Those of the installation, such as this one, are counted apart, and are at least 60. Chat completions have a limit of their own. */
  rateLimit: {
    limit: number;
    windowSeconds: number;
  };
  /** Activity streams open at a time, on each replica. */
  activityConnections: {
    total: number;
    perUser: number;
  };
  /** MiB that the files of an agent may have on this machine, in all and of each end user, group, topic or thread. What would make more is refused, and what is stored stays. Files in S3 do not count. */
  fileMegabytes: {
    total: number;
    perUser: number;
  };
  /** How long one agent waits for another. */
  agentCallTimeoutSeconds: number;
  /** How long a tool may run. */
  toolTimeoutSeconds: number;
  /** How long a turn may take in all, without its hooks; its model may be silent for half of it, or a minute. */
  modelTimeoutSeconds: number;
  /** Hosts inside the network that tools, plugins and the provider addresses of agents may reach all the same. */
  httpAllowedHosts: Array<string>;
  /** Room turns at a time, on each replica. */
  roomSlots: number;
  /** The Langfuse server that agents are traced by; null: `https://cloud.langfuse.com`. */
  tracingBaseUrl: string | null;
  /** How long entries of the audit log are kept; null: for good. */
  retentionDays: number | null;
}

export interface PolicyChanges {
  /** Where clients and messengers reach the installation; null: `BASE_URL`. */
  publicAddress?: string | null;
  /** For agents that name no model; null: the first provider with a key decides. */
  defaultModel?: string | null;
  /** Whose agents may use the provider keys and addresses of the server's environment. */
  environmentKeys?: "all" | "first-organization" | "none";
  /** Messages of a conversation within this time of each other are one turn. */
  debounceMs?: number;
  /** How long before a typing sign is sent. */
  typingDelayMs?: number;
  /** How often new messages may restart a turn. */
  maxRestarts?: number;
  /** Calls of management routes, of the native stream and of `/v1/models` that each caller may make in a window: a user, a management key, an agent's key at a client address, and without valid credentials an address. Those of the installation, such as this one, are counted apart, and are at least 60. Chat completions have a limit of their own. */
  rateLimit?: {
    limit?: number;
    windowSeconds?: number;
  };
  /** Activity streams open at a time, on each replica. */
  activityConnections?: {
    total?: number;
    perUser?: number;
  };
  /** MiB that the files of an agent may have on this machine, in all and of each end user, group, topic or thread. What would make more is refused, and what is stored stays. Files in S3 do not count. */
  fileMegabytes?: {
    total?: number;
    perUser?: number;
  };
  /** How long one agent waits for another. */
  agentCallTimeoutSeconds?: number;
  /** How long a tool may run. */
  toolTimeoutSeconds?: number;
  /** How long a turn may take in all, without its hooks; its model may be silent for half of it, or a minute. */
  modelTimeoutSeconds?: number;
  /** Hosts inside the network that tools, plugins and the provider addresses of agents may reach all the same. */
  httpAllowedHosts?: Array<string>;
  /** Room turns at a time, on each replica. */
  roomSlots?: number;
  /** The Langfuse server that agents are traced by; null: `https://cloud.langfuse.com`. */
  tracingBaseUrl?: string | null;
  /** How long entries of the audit log are kept; null: for good. */
  retentionDays?: number | null;
}

export interface ProviderConnections {
  connections: Array<ProviderConnection>;
}

export interface ProviderConnection {
  id: string;
  name: string;
  /** Fixed once the connection is made. */
  provider:
    | "openai"
    | "anthropic"
    | "google"
    | "mistral"
    | "ollama"
    | "openai-compatible"
    | "demo"
    | "deepgram"
    | "elevenlabs";
  /** Null: the provider's own address. */
  baseUrl: string | null;
  /** A disabled connection is never called, but for a test. */
  enabled: boolean;
  /** For shared connections: whether it answers for agents that bind none. An organization has one: a new one takes it over. */
  isDefault: boolean;
  /** A mask of the stored key; null without one. */
  apiKeyHint: string | null;
  /** Whether turns may use it. */
  usable: boolean;
  /** Why not; null when they may. Whether a workspace admits a shared connection is told by its agents' options. */
  reason: "not-admitted" | "disabled" | "no-key" | null;
  /** The roles that agents bind to it, as the first model or as a fallback. */
  roles: Array<"chat" | "fast" | "embedding" | "transcription" | "speech">;
}

export interface ProviderConnectionAnswer {
  connection: ProviderConnection;
}

export interface NewProviderConnection {
  /** Unique in its scope. */
  name: string;
  /** Fixed once the connection is made. */
  provider:
    | "openai"
    | "anthropic"
    | "google"
    | "mistral"
    | "ollama"
    | "openai-compatible"
    | "demo"
    | "deepgram"
    | "elevenlabs";
  /** Null: the provider's own address. `ollama` and `openai-compatible` need one. Leads to public addresses and the hosts of the policy `httpAllowedHosts` only. */
  baseUrl?: string | null;
  /** 6 to 8192 visible ASCII characters; stored sealed, never shown again. An empty text and the hint keep the stored key. */
  apiKey?: string | null;
  /** A disabled connection is never called, but for a test. */
  enabled?: boolean;
  /** For shared connections: whether it answers for agents that bind none. An organization has one: a new one takes it over. */
  isDefault?: boolean;
}

export interface ProviderConnectionChanges {
  /** Unique in its scope. */
  name?: string;
  /** Fixed once the connection is made. */
  provider?:
    | "openai"
    | "anthropic"
    | "google"
    | "mistral"
    | "ollama"
    | "openai-compatible"
    | "demo"
    | "deepgram"
    | "elevenlabs";
  /** Null: the provider's own address. `ollama` and `openai-compatible` need one. Leads to public addresses and the hosts of the policy `httpAllowedHosts` only. */
  baseUrl?: string | null;
  /** 6 to 8192 visible ASCII characters; stored sealed, never shown again. An empty text and the hint keep the stored key. */
  apiKey?: string | null;
  /** A disabled connection is never called, but for a test. */
  enabled?: boolean;
  /** For shared connections: whether it answers for agents that bind none. An organization has one: a new one takes it over. */
  isDefault?: boolean;
}

export interface ProviderConnectionTest {
  /** Whether the provider answered, and accepted the key. */
  ok: boolean;
  /** Null without an answer. */
  latencyMs: number | null;
  /** Why not. */
  error: string | null;
}

export interface WorkspaceProviders {
  /** Null: every provider. The built-in model `demo` is always admitted. */
  admitted: Array<{
    provider:
      | "openai"
      | "anthropic"
      | "google"
      | "mistral"
      | "ollama"
      | "openai-compatible"
      | "demo"
      | "deepgram"
      | "elevenlabs";
    /** Null: each model of the provider. */
    models: Array<string> | null;
  }> | null;
  /** Whether the agents may use private connections, and provider keys among their secrets. */
  privateConnections: boolean;
}

export interface WorkspaceProvidersBody {
  /** Null: every provider. The built-in model `demo` is always admitted. */
  admitted: Array<{
    provider:
      | "openai"
      | "anthropic"
      | "google"
      | "mistral"
      | "ollama"
      | "openai-compatible"
      | "demo"
      | "deepgram"
      | "elevenlabs";
    /** Null: each model of the provider. */
    models: Array<string> | null;
  }> | null;
  /** Whether the agents may use private connections, and provider keys among their secrets. */
  privateConnections?: boolean;
}

export interface AgentProviders {
  /** The providers that the agent's workspace admits. */
  providers: Array<{
    provider:
      | "openai"
      | "anthropic"
      | "google"
      | "mistral"
      | "ollama"
      | "openai-compatible"
      | "demo"
      | "deepgram"
      | "elevenlabs";
    /** The admitted models; where all are admitted, those that the engine knows, and every other one works too. */
    models: Array<string>;
    connections: Array<{
      id: string;
      name: string;
      /** Whether it belongs to the organization. */
      shared: boolean;
      /** Whether it is enabled and has what it needs. */
      usable: boolean;
    }>;
  }>;
  /** Whether the agents may use private connections, and provider keys among their secrets. */
  privateConnections: boolean;
}

export interface ProviderRoles {
  roles: Array<ProviderRole>;
}

export interface ProviderRole {
  role: "chat" | "fast" | "embedding" | "transcription" | "speech";
  /** The connection of the first model; null without one. */
  connection: {
    id: string;
    name: string;
    provider:
      | "openai"
      | "anthropic"
      | "google"
      | "mistral"
      | "ollama"
      | "openai-compatible"
      | "demo"
      | "deepgram"
      | "elevenlabs";
    /** Whether it belongs to the organization. */
    shared: boolean;
  } | null;
  /** The model that is configured to answer; null where none is. */
  model: string | null;
  /** The bound models after the first one. */
  fallbacks: Array<{
    connectionId: string;
    model: string;
  }>;
  /** Where the model comes from: the agent's binding, the organization's default connection, or the keys of the environment. `none` also stands for the built-in model of an agent without any of them. */
  source: "bound" | "default" | "environment" | "none";
  /** Whether a model may answer: the first one or a fallback. */
  usable: boolean;
  /** Why none may. */
  reason: "not-admitted" | "disabled" | "no-key" | null;
  /** The connections that the agent may bind to the role. */
  options: Array<{
    connectionId: string;
    name: string;
    provider:
      | "openai"
      | "anthropic"
      | "google"
      | "mistral"
      | "ollama"
      | "openai-compatible"
      | "demo"
      | "deepgram"
      | "elevenlabs";
    /** Whether it belongs to the organization. */
    shared: boolean;
    /** Models to choose from. Where the workspace admits all models, every other one of the provider works too. */
    models: Array<string>;
  }>;
}

export interface ProviderRoleAnswer {
  role: ProviderRole;
}

export interface RoleBinding {
  /** A connection among the role's options; null binds none, and ignores the other fields. */
  connectionId: string | null;
  /** Null: the usual model of the provider. */
  model?: string | null;
  /** Tried in this order when a model call fails before it has said anything. */
  fallbacks?: Array<{
    /** A connection among the role's options. */
    connectionId: string;
    /** Null: the usual model of the provider. */
    model?: string | null;
  }>;
}

export interface ModelPrices {
  /** The organization's own. */
  prices: Array<ModelPrice>;
  /** Of all amounts of the organization: that of its own prices, else USD. */
  currency: string;
  /** The defaults, for models without an own price, unless those are in another currency. */
  listPrices: {
    asOf: string;
    prices: Array<ListPrice>;
  };
}

export interface ModelPrice {
  provider:
    | "openai"
    | "anthropic"
    | "google"
    | "mistral"
    | "ollama"
    | "openai-compatible"
    | "demo"
    | "deepgram"
    | "elevenlabs";
  /** A model, or with a `*` at its end all whose names begin so. An exact name comes before the longest beginning. */
  model: string;
  inputPerMillion: number;
  /** Null: as other input. */
  cachedInputPerMillion: number | null;
  /** Null: as other input. */
  cacheWritePerMillion: number | null;
  outputPerMillion: number;
  /** The same for all prices. */
  currency: string;
}

export type ListPrice = ModelPrice & {
  /** The page of the provider; empty for the built-in model. */
  source: string;
};

export interface NewModelPrices {
  prices: Array<NewModelPrice>;
}

export interface NewModelPrice {
  provider:
    | "openai"
    | "anthropic"
    | "google"
    | "mistral"
    | "ollama"
    | "openai-compatible"
    | "demo"
    | "deepgram"
    | "elevenlabs";
  /** A model, or with a `*` at its end all whose names begin so. An exact name comes before the longest beginning. */
  model: string;
  /** For a million tokens of a prompt. */
  inputPerMillion: number;
  /** For a million tokens of a prompt that the provider had in its cache; absent: as others. */
  cachedInputPerMillion?: number | null;
  /** For a million tokens of a prompt that it added to its cache; absent: as others. */
  cacheWritePerMillion?: number | null;
  /** For a million tokens of a reply. */
  outputPerMillion: number;
  /** The same for all prices. */
  currency?: string;
}

export interface MailRelayAnswer {
  relay: MailRelay | null;
}

export interface MailRelay {
  /** May be an address of a private network. */
  host: string;
  port: number;
  /** Whether the connection begins with TLS, as on port 465. */
  secure: boolean;
  /** Whether a connection without `secure` must change to TLS (STARTTLS); otherwise it may stay open text. */
  requireTls: boolean;
  /** Null for a relay without a login. */
  username: string | null;
  /** The sender: an address, or `Name <address>`. */
  from: string;
  /** The stored one, as a mask; null when there is none. */
  password: string | null;
}

export interface NewMailRelay {
  /** May be an address of a private network. */
  host: string;
  port?: number;
  /** Whether the connection begins with TLS, as on port 465. */
  secure?: boolean;
  /** Whether a connection without `secure` must change to TLS (STARTTLS); otherwise it may stay open text. */
  requireTls?: boolean;
  /** Null for a relay without a login. */
  username?: string | null;
  /** The sender: an address, or `Name <address>`. */
  from: string;
  /** The mask, an empty text or no field keeps the stored one, for the same host, port and user name. */
  password?: string | null;
}

export interface TestMailResult {
  /** Whether the relay accepted the mail. */
  ok: boolean;
  latencyMs: number;
  /** Why not. */
  error: string | null;
}

export interface TestMail {
  /** Upper case counts as lower case. */
  to: string;
}

export interface InstallationHealth {
  /** Whether nothing fails. */
  ok: boolean;
  /** Of the server that answers. */
  version: string;
  checks: Array<HealthCheck>;
  scheduler: SchedulerHealth;
}

export interface HealthCheck {
  /** What was looked at; several findings may share it. */
  name: string;
  /** `warn` is something to look at. */
  status: "ok" | "warn" | "fail";
  /** The finding and, unless the status is `ok`, what to do. It never holds a secret. */
  message: string;
}

export interface AuditPage {
  items: Array<AuditEntry>;
  /** Exact up to 10000; 10001 means that there are more than that. */
  total: number;
  limit: number;
  offset: number;
}

export interface AuditEntry {
  id: string;
  actor: {
    /** `key`: a management key. `system`: the engine itself, or somebody without an account. */
    type: "user" | "key" | "system";
    id: string | null;
    /** As it was then. */
    name: string | null;
  };
  action: string;
  /** What it was done to. */
  target: string | null;
  /** Slug of the agent, if one was changed. */
  instanceId: string | null;
  success: boolean;
  /** More about it; never a secret, nor what is stored sealed. Of an update, `changes` tells each field from what to what; of long texts where they begin to differ. `replaced` names what changed and is not shown. */
  details: Record<string, unknown>;
  /** Null: it came from the machine itself, or it is what somebody did with an account that joined another organization first, whose log has it. */
  ip: string | null;
  createdAt: string;
}

export interface AuditStats {
  total: number;
  failures: number;
  /** The 50 most frequent. */
  actions: Array<{
    action: string;
    count: number;
  }>;
  /** The 20 most active. */
  actors: Array<{
    actor: {
      /** `key`: a management key. `system`: the engine itself, or somebody without an account. */
      type: "user" | "key" | "system";
      id: string | null;
      /** As it was then. */
      name: string | null;
    };
    count: number;
  }>;
  /** Every UTC day of the period. */
  daily: Array<{
    date: string;
    count: number;
    failures: number;
  }>;
}

export interface Analytics {
  /** The currency of the organization's prices, in which costs are shown. */
  currency: string;
  overview: {
    /** However they ended, those that run included. */
    turns: number;
    /** With a turn in the period, of those that are stored. */
    conversations: number;
    /** That these turns stored, of both sides. */
    messages: number;
    /** End users: the `user` of a call with the agent's key, a messenger's user, else the conversation. A call without `chat_id` and without `user` has none, and neither has work that nobody asked for. */
    uniqueUsers: number;
    promptTokens: number;
    completionTokens: number;
    totalTokens: number;
    /** Millionths of the currency's unit, of the turns with a known cost. Null: there are turns, and none has a known cost. */
    costMicros: number | null;
    /** Turns that are not in `costMicros`: a model without a price answered, or they run. */
    unpricedTurns: number;
  };
  /** Every UTC day of the period. */
  dailyTrend: Array<{
    /** A day in UTC. */
    date: string;
    turns: number;
    tokens: number;
    /** Millionths of the currency's unit, of the turns with a known cost. Null: there are turns, and none has a known cost. */
    costMicros: number | null;
    /** Turns that are not in `costMicros`: a model without a price answered, or they run. */
    unpricedTurns: number;
    conversations: number;
    messages: number;
    /** As `latency.p50`, of the day's turns. */
    latencyP50: number | null;
    /** As `latency.p95`, of the day's turns. */
    latencyP95: number | null;
  }>;
  channelDistribution: Array<{
    channel: string;
    turns: number;
    tokens: number;
    /** Millionths of the currency's unit, of the turns with a known cost. Null: there are turns, and none has a known cost. */
    costMicros: number | null;
    /** Turns that are not in `costMicros`: a model without a price answered, or they run. */
    unpricedTurns: number;
  }>;
  /** By turns, at most 200. */
  modelDistribution: Array<{
    model: string;
    turns: number;
    tokens: number;
    /** Millionths of the currency's unit, of the turns with a known cost. Null: there are turns, and none has a known cost. */
    costMicros: number | null;
    /** Turns that are not in `costMicros`: a model without a price answered, or they run. */
    unpricedTurns: number;
  }>;
  /** By calls, at most 200. */
  toolUsage: Array<{
    tool: string;
    count: number;
    /** Of these calls, those that failed. */
    errors: number;
    /** Milliseconds, within 5 %. */
    p95: number | null;
  }>;
  /** Milliseconds, within 5 %, of the turns that ended well, from their beginning to their end, and to the first output. Null where there are none. */
  latency: {
    p50: number | null;
    p95: number | null;
    p99: number | null;
    firstOutputP50: number | null;
  };
}

export interface AnalyticsNow {
  running: {
    /** Turns, the oldest first, at most 20. */
    items: Array<{
      /** The turn's id. */
      id: string;
      /** Slug of the agent. */
      instanceId: string;
      instanceName: string;
      conversationId: string | null;
      channel: string;
      /** `queued`: it waits for another turn. */
      status: "queued" | "running";
      createdAt: string;
    }>;
    total: number;
  };
  failures: {
    /** Of the last 24 hours, newest first, at most 50. */
    items: Array<{
      /** `task`: a run of a scheduled task failed or was missed. `message`: one of a messenger was given up. `event`: one of a backlog was. `channel`: it does not work at this moment, since whenever. */
      kind: "turn" | "task" | "message" | "event" | "channel";
      /** Slug of the agent. */
      instanceId: string;
      instanceName: string;
      /** Null: there is none. */
      conversationId: string | null;
      /** The task, or the channel of a turn, of a message, or that does not work. */
      name: string | null;
      /** Why. Of a turn a code: `provider-failed`, `provider-timeout`, `rate-limited`, `internal`, or `lost` when its process died. */
      error: string | null;
      at: string;
    }>;
    total: number;
  };
}

export interface Budgets {
  /** The first day of this month in UTC. */
  month: string;
  /** Agents with `monthlyTokenBudget`, those that used the largest share of it first. */
  agents: Array<{
    /** Slug of the agent. */
    instanceId: string;
    instanceName: string;
    /** Tokens of the calendar month in UTC. */
    budget: number;
    /** With work of the background, such as memories and titles. */
    used: number;
    /** Held for calls that run at this moment. */
    reserved: number;
  }>;
  /** End users of agents with `userMonthlyTokenBudget`, who asked them this month, in the same order; at most 50. */
  users: Array<{
    /** Slug of the agent. */
    instanceId: string;
    instanceName: string;
    /** Tokens of the calendar month in UTC. */
    budget: number;
    /** With work of the background, such as memories and titles. */
    used: number;
    /** Held for calls that run at this moment. */
    reserved: number;
    /** The end user, which is the conversation where there is no other. */
    user: string;
    /** The channel of an end user: `web` for the `user` of a chat request, a messenger for a person of it, `conversation` where a conversation stands for its user. */
    userChannel: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
  }>;
  /** Budgets of money. */
  costs: {
    /** The currency of the organization's prices, in which costs are shown. */
    currency: string;
    /** As `agents`, with `monthlyCostBudget`. */
    agents: Array<{
      /** Slug of the agent. */
      instanceId: string;
      instanceName: string;
      /** In millionths of the currency's unit. */
      budget: number;
      /** In millionths of the currency's unit. */
      used: number;
      /** In millionths of the currency's unit. */
      reserved: number;
    }>;
    /** As `users`, with `userMonthlyCostBudget`. */
    users: Array<{
      /** Slug of the agent. */
      instanceId: string;
      instanceName: string;
      /** In millionths of the currency's unit. */
      budget: number;
      /** In millionths of the currency's unit. */
      used: number;
      /** In millionths of the currency's unit. */
      reserved: number;
      /** The end user, which is the conversation where there is no other. */
      user: string;
      /** The channel of an end user: `web` for the `user` of a chat request, a messenger for a person of it, `conversation` where a conversation stands for its user. */
      userChannel: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
    }>;
  };
}

export interface UsagePage {
  /** The currency of the organization's prices, in which costs are shown. */
  currency: string;
  /** By tokens, the most first; days in order. */
  usage: Array<{
    /** With `by=agent`: its slug. */
    instanceId?: string;
    /** With `by=agent`. */
    instanceName?: string;
    /** With `by=user`: the end user, which is the conversation where there is no other. Null: nobody is known. */
    user?: string | null;
    /** With `by=user`: the channel of `user`; equal ids of two channels are two people. */
    userChannel?: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
    /** With `by=model`: provider and model. A turn with a fallback counts for the model that answered last. */
    model?: string;
    /** With `by=day`: a day in UTC. */
    date?: string;
    turns: number;
    promptTokens: number;
    completionTokens: number;
    totalTokens: number;
    /** Millionths of the currency's unit, of the turns with a known cost. Null: there are turns, and none has a known cost. */
    costMicros: number | null;
    /** Turns that are not in `costMicros`: a model without a price answered, or they run. */
    unpricedTurns: number;
  }>;
  total: number;
  limit: number;
  offset: number;
}

export interface ToolCatalogue {
  tools: Array<Tool>;
}

export interface Tool {
  /** Built in: one word. Of a plugin: `<namespace>:<tool>`. An agent: `agent:<slug>`. */
  name: string;
  description: string;
  category: string;
  origin: "builtin" | "plugin" | "mcp" | "agent";
  requiredSecrets: Array<RequiredSecret>;
}

export interface RequiredSecret {
  /** Its name among the agent's secrets. */
  key: string;
  type: "text" | "select";
  label?: string;
  description?: string;
  choices?: Array<string>;
  optional?: boolean;
  sensitive: boolean;
}

export interface AgentTools {
  tools: Array<AgentTool>;
}

export interface AgentTool {
  /** Built in: one word. Of a plugin: `<namespace>:<tool>`. An agent: `agent:<slug>`. */
  name: string;
  description: string;
  category: string;
  origin: "builtin" | "plugin" | "mcp" | "agent";
  requiredSecrets: Array<RequiredSecret>;
  /** What turned it on: a skill that requires it, or somebody; null: it is off. */
  source: "global" | "skill" | "manual" | null;
  enabled: boolean;
  /** A person decides about each call before it is made. */
  needsApproval: boolean;
  /** Of `requiredSecrets`, the keys of those that the agent lacks: until they are stored, the tool can't be used. Optional ones are none of them. */
  missingSecrets: Array<string>;
}

export interface ToolChanges {
  /** All tools that are to be on; the others are turned off. One that an enabled skill requires must be among them. */
  enabled: Array<string>;
  /** All tools whose calls a person decides about; each must be on. Left out: as it is, and for a tool that is turned on now as its plugin would have it. */
  needsApproval?: Array<string>;
}

export interface RequiredSecrets {
  requiredSecrets: Array<RequiredAgentSecret>;
}

export interface RequiredAgentSecret {
  /** Its name among the agent's secrets. */
  key: string;
  type: "text" | "select";
  label?: string;
  description?: string;
  choices?: Array<string>;
  optional?: boolean;
  sensitive: boolean;
  /** The enabled tools that need it. */
  tools: Array<string>;
  /** Whether the agent has it. */
  configured: boolean;
}

export interface Plugins {
  plugins: Array<Plugin>;
}

export interface Plugin {
  namespace: string;
  kind: "mcp";
  transport: HttpTransport | StdioTransport;
  enabled: boolean;
  /** How it went when its tools were last listed; `unknown`: they never were. */
  status: "connected" | "failed" | "disabled" | "unknown";
  /** Why that failed, which of its tools can't be used, or why it may not be started. */
  lastError: string | null;
  tools: Array<PluginTool>;
  updatedAt: string;
}

export interface HttpTransport {
  type: "http";
  /** Its address; the values of its query, and long parts of its path with a digit, show as the headers do. */
  url: string;
  /** Values show as `••••` and their last four characters. */
  headers: Record<string, string>;
}

export interface StdioTransport {
  type: "stdio";
  command: string;
  /** Shown as they are: a credential belongs into `env`. */
  args: Array<string>;
  /** Values show as `••••` and their last four characters. */
  env: Record<string, string>;
}

export interface PluginTool {
  name: string;
  description: string;
}

export interface PluginAnswer {
  plugin: Plugin;
}

export interface PluginSettings {
  kind: "mcp";
  transport: HttpTransportSettings | StdioTransportSettings;
  /** Left out: as it is, and on for a new one. */
  enabled?: boolean;
}

export interface HttpTransportSettings {
  type: "http";
  /** Its address (Streamable HTTP). Its path is shown as it is: a credential belongs into a header. In its query too, a value that begins with `••••` keeps the stored one of this server. A host inside the network must stand in the policy `httpAllowedHosts`. */
  url: string;
  /** Sent with every request. A value that begins with `••••` keeps the stored one. */
  headers?: Record<string, string>;
}

/** Needs the setting `ALLOW_STDIO_MCP=true`. */
export interface StdioTransportSettings {
  type: "stdio";
  command: string;
  /** Shown as they are: a credential belongs into `env`. */
  args?: Array<string>;
  /** All that the process gets beside PATH and HOME. A value that begins with `••••` keeps the stored one. */
  env?: Record<string, string>;
}

export interface PluginPackages {
  packages: Array<PluginPackage>;
}

export interface PluginPackage {
  /** The namespace of its tools. */
  namespace: string;
  /** Whether agents of the organization can use its tools. */
  enabled: boolean;
}

export interface PluginPackageAnswer {
  package: PluginPackage;
}

export interface PluginPackageSettings {
  enabled?: boolean;
}

export interface HookList {
  hooks: Array<Hook>;
}

export interface Hook {
  id: string;
  /** When it runs: before the first message of a conversation, before each message, when the reply is complete, and after it was sent (where it is sent as a whole, just before: the reply waits for it). */
  event: "conversation_start" | "message_received" | "response_generated" | "response_sent";
  /** A hook calls a tool. */
  actionType: "tool";
  actionConfig: HookAction;
  /** On `response_generated` only: the text that the tool answers becomes the reply, which nobody sees before. */
  mutates: boolean;
  enabled: boolean;
  /** Hooks of an event run in this order, one after the other; by age where it is equal. */
  position: number;
  /** How long the call may take. */
  timeoutMs: number;
}

export interface HookAnswer {
  hook: Hook;
}

export interface HookChanges {
  /** When it runs: before the first message of a conversation, before each message, when the reply is complete, and after it was sent (where it is sent as a whole, just before: the reply waits for it). */
  event?: "conversation_start" | "message_received" | "response_generated" | "response_sent";
  /** A hook calls a tool. */
  actionType?: "tool";
  actionConfig?: HookAction;
  /** On `response_generated` only: the text that the tool answers becomes the reply, which nobody sees before. */
  mutates?: boolean;
  enabled?: boolean;
  /** Hooks of an event run in this order, one after the other; by age where it is equal. */
  position?: number;
  /** How long the call may take. */
  timeoutMs?: number;
}

export interface MemoryPage {
  memories: Array<Memory>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
}

export interface Memory {
  id: string;
  /** Slug of the agent. */
  instanceId: string;
  content: string;
  category: string;
  importance: number;
  /** The end user it is about; empty: nobody in particular. */
  subject: string;
  /** Null: it is about nobody in particular. */
  subjectChannel: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
  /** Where it was said, if in a conversation. */
  sourceConversationId: string | null;
  createdAt: string;
  updatedAt: string;
}

export interface SavedMemory {
  memory: Memory;
  /** `UPDATE`: it took the place of one of the same subject that said the same or nearly so. */
  event: "ADD" | "UPDATE";
}

export interface NewMemory {
  /** Slug of the agent. */
  instanceId: string;
  /** One fact, in a sentence. */
  content: string;
  category?: string;
  /** 1 to 10; what matters most is recalled first. */
  importance?: number;
  /** The id of the end user it is about: `user` of a chat request, as the messenger knows them, or the id of a conversation that stands for its user. Empty: nobody in particular; every end user's conversations may recall it. */
  subject?: string;
  /** The channel of `subject`, which it needs: equal ids of two channels are two people. `web` where absent. */
  subjectChannel?: "web" | "telegram" | "slack" | "whatsapp" | "conversation";
}

export interface DeletedMemories {
  deleted: true;
  /** How many there were. */
  count: number;
}

export interface ConversationPage {
  conversations: Array<FoundConversation>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
  /** With `search`: older conversations than this were searched only for words that few messages have, not in their titles. Pass it as `to` to search them in full. Null if all were. */
  searchedFrom: string | null;
}

export type FoundConversation = Conversation & {
  /** With `search`: what stands around the match in its newest message that matches, as plain text of at most 200 characters. Null when its title matches alone. */
  snippet: string | null;
};

export interface Conversation {
  id: string;
  /** The conversation's id. */
  conversationId: string;
  title: string | null;
  summary: string | null;
  channel: string;
  /** What it came from: a person, a webhook's event, the agent's Room or a scheduled task. */
  source: "user" | "webhook" | "room" | "scheduled";
  /** Slug of the agent. */
  instanceId: string;
  /** The agent's name. */
  instanceName: string;
  messageCount: number;
  /** Of all its turns, prompts and replies. */
  totalTokens: number;
  createdAt: string;
  /** When its last message came. */
  updatedAt: string;
  /** Whether it is exempt from deletion. In the managed edition only. */
  legalHold?: boolean;
}

export interface OneConversation {
  conversation: Conversation;
}

export interface ConversationChange {
  /** 1 to 200 characters. Required unless the managed edition gets a `legalHold`. */
  title?: string;
  /** Whether the conversation is exempt from deletion. In the managed edition only, with the feature `administration`, and with `org:write` besides. */
  legalHold?: boolean;
}

export interface MessagePage {
  messages: Array<Message>;
  total: number;
  /** How many were asked for; how many these are where more would have over 8 MiB together. */
  limit: number;
  offset: number;
  order: "asc" | "desc";
}

export interface Message {
  id: string;
  role: "user" | "assistant";
  content: string;
  /** How the agent came to it, call by call of the model. */
  steps: Array<MessageStep>;
  reasoning: string | null;
  attachments: Array<Attachment>;
  /** `error`, `stopped` or `approval` of a turn that did not come to its end; `hookId` of the hook whose words a reply is; `model` with the model of each step and its provider connection, of an agent with connections; `sentBy`, with `turnId` and `conversationId`, of a message that the agent sent of itself from another conversation; `debug` of older turns, while the agent's `debugEnabled` is on: newer ones have it at `/turns/{turnId}`. */
  metadata: Record<string, unknown>;
  promptTokens: number;
  completionTokens: number;
  createdAt: string;
}

export interface MessageStep {
  index: number;
  stepType: "initial" | "tool-result" | "continue";
  text: string;
  toolCalls: Array<{
    toolCallId: string;
    toolName: string;
    args?: unknown;
  }>;
  toolResults: Array<{
    toolCallId: string;
    result?: unknown;
  }>;
  reasoning: string;
  finishReason: string;
  durationMs: number;
}

export interface Attachment {
  id: string;
  name: string;
  mime: string;
  /** In bytes. */
  size: number;
  url: string;
}

export interface ConversationState {
  /** Without `_private`. */
  state: Record<string, unknown>;
}

export interface HookExecutions {
  executions: Array<HookExecution>;
}

export interface HookExecution {
  id: string;
  /** The hook may be gone. */
  hookId: string;
  event: string;
  toolName: string;
  success: boolean;
  error: string | null;
  durationMs: number;
  args?: unknown;
  result?: unknown;
  createdAt: string;
}

export interface TurnPage {
  turns: Array<Turn>;
  total: number;
  limit: number;
  offset: number;
}

export interface Turn {
  /** Also the id of the agent's message, where one is stored. */
  id: string;
  /** `approval`: it stopped at a call that a person decides about. `lost`: its process died or lost touch with the database. */
  status: "queued" | "running" | "done" | "approval" | "failed" | "aborted" | "lost";
  /** The way in. */
  door: string;
  /** What it came from: a person, a webhook's event, the agent's Room or a scheduled task. */
  source: "user" | "webhook" | "room" | "scheduled";
  /** The end user, or the conversation without one. */
  subject: string;
  /** The channel of an end user: `web` for the `user` of a chat request, a messenger for a person of it, `conversation` where a conversation stands for its user. */
  subjectChannel: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
  provider: string | null;
  model: string | null;
  /** Another one: prompt, tools or skills of the agent were different. */
  fingerprint: string | null;
  promptTokens: number;
  completionTokens: number;
  /** What the turn cost by the prices of then, in millionths of the currency's unit. Null: unknown, or it has not ended. */
  costMicros: number | null;
  /** Until its first output; null: there was none. */
  ttftMs: number | null;
  /** Null: it has not ended. */
  durationMs: number | null;
  /** Why it failed or was aborted. */
  errorCode: string | null;
  /** Finds the lines of the log. */
  requestId: string | null;
  /** The turn that waited for a decision before this one. */
  continues: string | null;
  createdAt: string;
  finishedAt: string | null;
}

export interface OneTurn {
  turn: WholeTurn;
}

export type WholeTurn = Turn & {
  /** What was stored: the user's messages and the agent's. */
  messages: Array<Message>;
  toolCalls: Array<TurnToolCall>;
  hooks: Array<HookExecution>;
  debug: TurnDebug;
};

export interface TurnToolCall {
  toolCallId: string;
  toolName: string;
  /** `executed`, `failed`, `pending`, `approved`, `refused` or `expired`. A call that waited stands in the turn that goes on, too. `refused` is also one that nobody can approve where it came up. */
  status: string;
  durationMs: number | null;
  /** The user who decided about it. */
  decidedBy: string | null;
  /** The reason that this user gave. */
  reason: string | null;
}

/** Kept of turns that ran while the agent's `debugEnabled` was on, and shown while it is on. */
export type TurnDebug = {
  /** From its request until it ran, the wait for earlier turns included. Null: it never ran. */
  preparedMs: number | null;
  settings: {
    thinking: boolean;
    temperature: number | null;
    maxOutputTokens: number | null;
    maxSteps: number;
  } | null;
  /** The prompt of the first call; later ones add the steps. Null: the turn never ran. */
  prompt: {
    system: string;
    messages: Array<PromptMessage>;
    /** How many older messages of the prompt were not kept. */
    omitted: number;
  } | null;
  /** The memories in the prompt, one a line. */
  memories: string;
  /** The state of the conversation before, without `_private`. */
  state: Record<string, unknown>;
  tools: Array<{
    name: string;
    /** As the model sees it. */
    modelName: string;
    description: string;
    needsApproval: boolean;
  }>;
  /** With what each took; their texts and calls are in the message. */
  steps: Array<TurnStep>;
  /** The conversations with other agents. */
  handoffs: Array<{
    toolCallId: string;
    agent: string;
    conversationId: string;
  }>;
  /** Hooks of a turn that stored no message; else they are in the turn's `hooks`. */
  hooks: Array<{
    /** The hook may be gone. */
    hookId: string;
    event: string;
    toolName: string;
    success: boolean;
    error: string | null;
    durationMs: number;
    args?: unknown;
    result?: unknown;
  }>;
  /** What the turn did to the state. Null: nothing. */
  stateChanges: {
    set: Record<string, unknown>;
    removed: Array<string>;
  } | null;
  failure: TurnFailure | null;
} | null;

export interface PromptMessage {
  role: "user" | "assistant" | "tool";
  content: Array<
    | {
        type: "text" | "reasoning";
        text: string;
      }
    | {
        type: "file";
        mediaType: string;
      }
    | {
        type: "tool-call";
        toolCallId: string;
        toolName: string;
        args?: unknown;
      }
    | {
        type: "tool-result";
        toolCallId: string;
        toolName: string;
        result?: unknown;
      }
  >;
}

export interface TurnStep {
  index: number;
  stepType: "initial" | "tool-result" | "continue";
  /** The name of the provider connection of the model that was called last; null for none. Absent for a step without a model call, and in turns of earlier releases. */
  connection?: string | null;
  /** The provider of that model. Absent for a step without a model call, and in turns of earlier releases. */
  provider?: string;
  /** Its name. Absent for a step without a model call, and in turns of earlier releases. */
  model?: string;
  /** The models before it that did not answer, in order; the failure is null for a connection that rested. Absent in turns of earlier releases. */
  fallbacks?: Array<{
    /** The name of the provider connection; null for none. */
    connection: string | null;
    provider: string;
    model: string;
    failure: TurnFailure | null;
  }>;
  /** After the turn began to run. */
  startedMs: number;
  /** From the step's start to its first output. */
  firstOutputMs: number | null;
  /** Null: the step did not end. */
  durationMs: number | null;
  promptTokens: number;
  completionTokens: number;
  /** Prompt tokens that the provider had in its cache; absent for none. */
  cachedTokens?: number;
  /** Prompt tokens that it added to its cache; absent for none. */
  cacheWriteTokens?: number;
  finishReason: string | null;
  /** The attempts that failed, and how long the next one waited. */
  retries: Array<{
    attempt: number;
    waitMs: number;
    failure: TurnFailure;
  }>;
}

export interface TurnFailure {
  code: string;
  /** What the caller was told. */
  message: string;
  /** What to look at, in the engine's words. */
  hint: string | null;
  /** The provider's answer, without secrets; at most 1000 characters. */
  said: string | null;
}

/** A server-sent event as an object of its fields, with `data` parsed. */
export interface LiveEvent {
  /** What the stream is resumed by. */
  id: string;
  event: "message";
  data: ActivityEvent;
}

export interface ActivityEvent {
  /** The start and the end of one thing share it, but for the suffixes `:start` and `:end`. */
  id: string;
  ts: string;
  kind:
    | "inbound"
    | "outbound"
    | "memory"
    | "cron"
    | "webhook"
    | "agent-handoff"
    | "conversation"
    | "governance"
    | "tool-start"
    | "tool-end"
    | "thinking"
    | "reply";
  category: "message" | "tool" | "memory" | "work" | "agent" | "conversation" | "governance";
  /** A sentence for people. */
  text: string;
  instance: {
    id: string;
    slug: string;
    name: string;
    icon: string | null;
  };
  conversationId: string | null;
  tool?: string;
  status?: "ok" | "failed" | "blocked" | "running";
  /** At most 500 characters. */
  argsPreview?: string;
  /** At most 500 characters. */
  resultPreview?: string;
  /** At most 500 characters. */
  responsePreview?: string;
  durationMs?: number;
  channel?: string;
  webhook?: {
    source: string;
    phase: "received" | "matched";
    definition?: string;
  };
  cron?: {
    taskId: string;
    name: string;
  };
  memory?: {
    event: "ADD" | "UPDATE";
    content: string;
  };
  conversation?: {
    event: string;
  };
  handoff?: {
    agent: string;
    phase: "start" | "end";
  };
}

/** A server-sent event as an object of its fields, with `data` parsed. */
export interface PersistedEvent {
  /** Empty. */
  id: string;
  event: "persisted";
  data: StoredRow;
}

export type StoredRow =
  | {
      messageId: string;
      /** The public id of the row's conversation, on the stream of all conversations. */
      conversationId?: string;
    }
  | {
      hookExecutionId: string;
      /** The public id of the row's conversation, on the stream of all conversations. */
      conversationId?: string;
    };

export interface RetentionPolicies {
  policies: Array<RetentionPolicy>;
}

export interface RetentionPolicy {
  /** The rows that go. */
  subject:
    | "conversations"
    | "memories"
    | "files"
    | "room_events"
    | "task_runs"
    | "hook_executions"
    | "governance_verdicts"
    | "turns";
  enabled: boolean;
  /** The age at which rows are deleted. */
  days: number;
  /** The next deletion; null while the policy is off. */
  nextRunAt: string | null;
  /** The last deletion that was completed. */
  lastRunAt: string | null;
}

export interface NewRetentionPolicies {
  /** Each subject once. */
  policies: Array<NewRetentionPolicy>;
}

export interface NewRetentionPolicy {
  /** The rows that go. */
  subject:
    | "conversations"
    | "memories"
    | "files"
    | "room_events"
    | "task_runs"
    | "hook_executions"
    | "governance_verdicts"
    | "turns";
  enabled?: boolean;
  /** The age at which rows are deleted. */
  days: number;
}

export interface RetentionPreview {
  /** The number of rows by subject. */
  counts: {
    conversations?: number;
    memories?: number;
    files?: number;
    room_events?: number;
    task_runs?: number;
    hook_executions?: number;
    governance_verdicts?: number;
    turns?: number;
  };
}

export interface RetentionPreviewRequest {
  /** Each subject once. */
  policies?: Array<NewRetentionPolicy>;
}

export interface ErasureAnswer {
  erasure: Erasure;
}

export interface Erasure {
  /** `erasureId` in the entries `erasure.create` and `erasure.complete` of the audit log. */
  id: string;
}

export interface NewErasure {
  /** The id of the person: `user` of a chat request, as the messenger knows them, or the id of a conversation that stands for its user. */
  subject: string;
  /** The channel of an end user: `web` for the `user` of a chat request, a messenger for a person of it, `conversation` where a conversation stands for its user. */
  subjectChannel?: "web" | "telegram" | "slack" | "whatsapp" | "conversation";
  /** Slug of the only agent whose data is erased; absent: of all agents of the organization. */
  instanceId?: string;
}

export interface ApprovalPage {
  approvals: Array<Approval>;
  /** Exact below 10001, which also stands for any greater number. */
  total: number;
  limit: number;
  offset: number;
}

export interface Approval {
  conversationId: string;
  /** Slug of the agent. */
  instanceId: string;
  toolCallId: string;
  toolName: string;
  /** What the tool would be called with, without secrets. */
  args?: Record<string, unknown>;
  requestedAt: string;
  expiresAt: string;
  /** The end user, if the call named one. */
  user: string | null;
  /** The channel of an end user: `web` for the `user` of a chat request, a messenger for a person of it, `conversation` where a conversation stands for its user. */
  userChannel: "web" | "telegram" | "slack" | "whatsapp" | "conversation" | null;
}

export interface ApprovalStatus {
  status: "approved" | "refused";
}

export interface ApprovalDecision {
  approved: boolean;
  /** Told to the model when refused. */
  reason?: string;
}

export type PlaygroundRequest = ChatRequest & {
  /** As `provider:model`, the model that answers in place of the agent's own, to compare the two; takes `agent:write`. Any other text is ignored, such as the agent's slug, which clients of completions send. */
  model?: string | null;
};

export interface CreateChatCompletionInput {
  /** With `chat_id`: the same request with the same key is answered once, for 24 hours; a repeat gets the stored reply, marked by the header `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string;
  body: CompletionRequest & { stream?: false | null };
}

export interface StreamChatInput {
  slug: string;
  /** With `chat_id`: the same request with the same key is answered once, for 24 hours; a repeat gets the stored reply, marked by the header `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string;
  body: ChatRequest;
}

export interface StreamChatAliasInput {
  slug: string;
  /** With `chat_id`: the same request with the same key is answered once, for 24 hours; a repeat gets the stored reply, marked by the header `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string;
  body: ChatRequest;
}

export interface ResumeChatInput {
  /** The agent's slug. */
  slug: string;
  /** Of the turn: what stands before the colon in the ids of its events. */
  messageId: string;
  /** `<messageId>:<n>`, as the events have it. */
  lastEventId?: string;
}

export interface StopChatInput {
  /** The agent's slug. */
  slug: string;
  /** Of the turn: what stands before the colon in the ids of its events. */
  messageId: string;
}

export interface GetModelInput {
  /** Slug of the agent. */
  id: string;
}

export interface GetSetupInput {
  /** Of the setup link. */
  token?: string;
}

export interface SetUpInput {
  body: SetUp;
}

export interface SignInInput {
  body: SignIn;
}

export interface ChangeMeInput {
  body: MeChanges;
}

export interface ChangeOnboardingInput {
  body: OnboardingChange;
}

export interface ChangePasswordInput {
  body: PasswordChange;
}

export interface EndSessionInput {
  /** The session's id. */
  id: string;
}

export interface ChooseOrganizationInput {
  body: OrganizationChoice;
}

export interface CreatePersonalTokenInput {
  body: NewPersonalToken;
}

export interface DeletePersonalTokenInput {
  /** The token's id. */
  id: string;
}

export interface ForgotPasswordInput {
  body: ForgotPassword;
}

export interface ResetPasswordInput {
  body: ResetPassword;
}

export interface CreateOrganizationInput {
  body: NewOrganization;
}

export interface GetOrganizationInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface UpdateOrganizationInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: OrganizationChanges;
}

export interface DeleteOrganizationInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: OrganizationDeletion;
}

export interface ListMembersInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface AddMemberInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewMember;
}

export interface ChangeMemberRoleInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of a member of the organization. */
  userId: string;
  body: RoleAssignment;
}

export interface RemoveMemberInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of a member of the organization. */
  userId: string;
}

export interface RenewMemberPasswordInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of a member of the organization. */
  userId: string;
}

export interface EndMemberSessionsInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of a member of the organization. */
  userId: string;
}

export interface LeaveOrganizationInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface ListRolesInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface CreateRoleInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewRole;
}

export interface UpdateRoleInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The role's key. */
  key: string;
  body: RoleChanges;
}

export interface DeleteRoleInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The role's key. */
  key: string;
}

export interface ListSentInvitationsInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface WithdrawInvitationInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The invitation's id. */
  id: string;
}

export interface AnswerInvitationInput {
  /** The invitation's id. */
  id: string;
  body: InvitationReply;
}

export interface ListWorkspacesInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface CreateWorkspaceInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: WorkspaceName;
}

export interface RenameWorkspaceInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The workspace's id. */
  workspaceId: string;
  body: WorkspaceName;
}

export interface DeleteWorkspaceInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The workspace's id. */
  workspaceId: string;
}

export interface ListWorkspaceMembersInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The workspace's id. */
  workspaceId: string;
}

export interface AssignWorkspaceMemberInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of a member of the organization. */
  userId: string;
  /** The workspace's id. */
  workspaceId: string;
}

export interface UnassignWorkspaceMemberInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of a member of the organization. */
  userId: string;
  /** The workspace's id. */
  workspaceId: string;
}

export interface ListManagementKeysInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface CreateManagementKeyInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewManagementKey;
}

export interface DeleteManagementKeyInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The key's id. */
  id: string;
}

export interface ListUsersInput {
  /** Part of the e-mail or the name, in upper or lower case. */
  search?: string;
  /** 50 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface CreateUserInput {
  body: NewUser;
}

export interface GetUserInput {
  /** Id of the user. */
  id: string;
}

export interface UpdateUserInput {
  /** Id of the user. */
  id: string;
  body: UserChanges;
}

export interface DeleteUserInput {
  /** Id of the user. */
  id: string;
}

export interface ResetUserPasswordInput {
  /** Id of the user. */
  id: string;
  body: UserPassword;
}

export interface ImpersonateUserInput {
  /** Id of the user. */
  id: string;
  body: Impersonation;
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

export interface ExportAgentInput {
  /** The agent's slug. */
  slug: string;
}

export interface ImportAgentInput {
  /** Where the agent is made. Left out: in the first workspace that the caller reaches. */
  workspaceId?: string;
  body: AgentBundle;
}

export interface ReplaceAgentInput {
  /** The agent's slug. */
  slug: string;
  body: AgentBundle;
}

export interface ListPromptsInput {
  /** The agent's slug. */
  slug: string;
}

export interface SavePromptsInput {
  /** The agent's slug. */
  slug: string;
  /** The revision the change is based on, as `"3"`. Any other answers 412. */
  ifMatch?: string;
  body: PromptChanges;
}

export interface PreviewPromptsInput {
  /** The agent's slug. */
  slug: string;
  body: PromptDraft;
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

export interface ListSkillsInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface CreateSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewSkill;
}

export interface GetSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
}

export interface UpdateSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
  body: SkillChanges;
}

export interface DeleteSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
}

export interface ListSkillVersionsInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
}

export interface GetSkillVersionInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
  version: string;
}

export interface ExportSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
}

export interface ListAllowedSkillsInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Id of the workspace. */
  workspaceId: string;
}

export interface AllowSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
  /** Id of the workspace. */
  workspaceId: string;
}

export interface DisallowSkillInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** Slug of the skill. */
  name: string;
  /** Id of the workspace. */
  workspaceId: string;
}

export interface ListAgentSkillsInput {
  /** The agent's slug. */
  slug: string;
}

export interface SetAgentSkillsInput {
  /** The agent's slug. */
  slug: string;
  body: EnabledSkills;
}

export interface UpgradeAgentSkillInput {
  /** The agent's slug. */
  slug: string;
  /** Slug of the skill. */
  skillSlug: string;
}

export interface RollBackAgentSkillInput {
  /** The agent's slug. */
  slug: string;
  /** Slug of the skill. */
  skillSlug: string;
  body?: SkillRollback;
}

export interface AutoLoadAgentSkillInput {
  /** The agent's slug. */
  slug: string;
  /** Slug of the skill. */
  skillSlug: string;
  body?: SkillAutoLoad;
}

export interface ListSkillEnvInput {
  /** The agent's slug. */
  slug: string;
  /** Slug of the skill. */
  skillSlug: string;
}

export interface PutSkillEnvInput {
  /** The agent's slug. */
  slug: string;
  /** Slug of the skill. */
  skillSlug: string;
  body: SkillEnvBody;
}

export interface DeleteSkillEnvInput {
  /** The agent's slug. */
  slug: string;
  /** Slug of the skill. */
  skillSlug: string;
  /** Any text; by convention UPPER_SNAKE_CASE. */
  key: string;
}

export interface ImportSkillsInput {
  /** Slug of the organization. */
  orgSlug: string;
  body?: SkillImport | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;
}

export interface ListAgentChannelsInput {
  /** The agent's slug. */
  slug: string;
}

export interface PutAgentChannelInput {
  /** The agent's slug. */
  slug: string;
  /** One of: web, telegram, slack, whatsapp, agent. */
  type: string;
  body: ChannelChanges;
}

export interface DeleteAgentChannelInput {
  /** The agent's slug. */
  slug: string;
  /** One of: web, telegram, slack, whatsapp, agent. */
  type: string;
}

export interface TestAgentChannelInput {
  /** The agent's slug. */
  slug: string;
  /** One of: web, telegram, slack, whatsapp, agent. */
  type: string;
}

export interface ReceiveFromTelegramInput {
  /** The agent's slug. */
  slug: string;
}

export interface ReceiveFromSlackInput {
  /** The agent's slug. */
  slug: string;
}

export interface ReceiveFromWhatsAppInput {
  /** The agent's slug. */
  slug: string;
}

export interface ReceiveFromWhatsAppBySecretInput {
  /** The agent's slug. */
  slug: string;
  /** The channel's secret. */
  webhookSecret: string;
}

export interface ListChannelMessagesInput {
  /** The agent's slug. */
  slug: string;
  /** `telegram`, `slack`, `whatsapp` or `agent`. */
  type: string;
  /** `in`: from people; `out`: to them. */
  direction?: "in" | "out";
  /** `pending`: waits to be answered or sent; `sending`: on its way, or its messenger's answer was lost; `sent`, or `done` for one that was answered; `dropped`: not to be answered, such as a keyword that stops the agent; `failed`: given up, see `error`. */
  status?: "pending" | "sending" | "sent" | "done" | "dropped" | "failed";
  /** 50 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface RetryChannelMessageInput {
  /** The agent's slug. */
  slug: string;
  /** `telegram`, `slack`, `whatsapp` or `agent`. */
  type: string;
  id: string;
}

export interface ReceiveEventInput {
  /** The source's token. */
  webhookToken: string;
  body: unknown | Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;
}

export interface ListRoomEventsInput {
  /** The agent's slug. */
  slug: string;
  /** `pending`: waits for the matcher; `conversation`, `backlog`: what the matching definition wants was done; `no-match`; `backlog-full`: 100 entries waited already; `room-off`: the Room is off, or the agent inactive; `source-disabled`; `invalid-payload`: it could not be read; `matcher-failed`. See `reason`. */
  outcome?:
    | "pending"
    | "conversation"
    | "backlog"
    | "no-match"
    | "backlog-full"
    | "room-off"
    | "source-disabled"
    | "invalid-payload"
    | "matcher-failed";
  eventSourceId?: string;
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface GetRoomEventInput {
  /** The agent's slug. */
  slug: string;
  /** The event's id. */
  id: string;
}

export interface ReplayRoomEventInput {
  /** The agent's slug. */
  slug: string;
  /** The event's id. */
  id: string;
}

export interface GetRoomInput {
  /** The agent's slug. */
  slug: string;
}

export interface SetRoomInput {
  /** The agent's slug. */
  slug: string;
  body: RoomChanges;
}

export interface DeleteRoomInput {
  /** The agent's slug. */
  slug: string;
}

export interface RunRoomInput {
  /** The agent's slug. */
  slug: string;
}

export interface ListBacklogInput {
  /** The agent's slug. */
  slug: string;
  /** `pending`: waits for a turn of the agent; `processing`: a turn works on it; `completed`: the agent says that it is done; `failed`: given up after 3 turns, see `error`; `discarded`: by an operator, or with the Room. */
  status?: "pending" | "processing" | "completed" | "failed" | "discarded";
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface ChangeBacklogEntryInput {
  /** The agent's slug. */
  slug: string;
  /** The entry's id. */
  id: string;
  body: BacklogEntryChange;
}

export interface ListEventSourcesInput {
  /** The agent's slug. */
  slug: string;
}

export interface CreateEventSourceInput {
  /** The agent's slug. */
  slug: string;
  body: NewEventSource;
}

export interface UpdateEventSourceInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
  body: EventSourceChanges;
}

export interface DeleteEventSourceInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
}

export interface RotateEventSourceTokenInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
}

export interface ListEventDefinitionsInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
}

export interface CreateEventDefinitionInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
  body: NewEventDefinition;
}

export interface UpdateEventDefinitionInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
  /** The definition's id. */
  definitionId: string;
  body: EventDefinitionChanges;
}

export interface DeleteEventDefinitionInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
  /** The definition's id. */
  definitionId: string;
}

export interface DryRunEventSourceInput {
  /** The agent's slug. */
  slug: string;
  /** The source's id. */
  id: string;
  body: TriedPayload;
}

export interface ListScheduledTasksInput {
  /** The agent's slug. */
  slug: string;
  /** 100 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface CreateScheduledTaskInput {
  /** The agent's slug. */
  slug: string;
  body: NewScheduledTask;
}

export interface GetScheduledTaskInput {
  /** The agent's slug. */
  slug: string;
  /** The task's id. */
  id: string;
}

export interface UpdateScheduledTaskInput {
  /** The agent's slug. */
  slug: string;
  /** The task's id. */
  id: string;
  body: ScheduledTaskChanges;
}

export interface DeleteScheduledTaskInput {
  /** The agent's slug. */
  slug: string;
  /** The task's id. */
  id: string;
}

export interface RunScheduledTaskInput {
  /** The agent's slug. */
  slug: string;
  /** The task's id. */
  id: string;
}

export interface ListTaskRunsInput {
  /** The agent's slug. */
  slug: string;
  /** The task's id. */
  id: string;
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface UpdatePoliciesInput {
  body: PolicyChanges;
}

export interface ListSharedConnectionsInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface CreateSharedConnectionInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewProviderConnection;
}

export interface UpdateSharedConnectionInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The connection's id. */
  id: string;
  body: ProviderConnectionChanges;
}

export interface DeleteSharedConnectionInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The connection's id. */
  id: string;
}

export interface TestSharedConnectionInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The connection's id. */
  id: string;
}

export interface ListPrivateConnectionsInput {
  /** The agent's slug. */
  slug: string;
}

export interface CreatePrivateConnectionInput {
  /** The agent's slug. */
  slug: string;
  body: NewProviderConnection;
}

export interface UpdatePrivateConnectionInput {
  /** The agent's slug. */
  slug: string;
  /** The connection's id. */
  id: string;
  body: ProviderConnectionChanges;
}

export interface DeletePrivateConnectionInput {
  /** The agent's slug. */
  slug: string;
  /** The connection's id. */
  id: string;
}

export interface TestPrivateConnectionInput {
  /** The agent's slug. */
  slug: string;
  /** The connection's id. */
  id: string;
}

export interface GetWorkspaceProvidersInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The workspace's id. */
  workspaceId: string;
}

export interface SetWorkspaceProvidersInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The workspace's id. */
  workspaceId: string;
  body: WorkspaceProvidersBody;
}

export interface ListAgentProvidersInput {
  /** The agent's slug. */
  slug: string;
}

export interface ListProviderRolesInput {
  /** The agent's slug. */
  slug: string;
}

export interface BindProviderRoleInput {
  /** The agent's slug. */
  slug: string;
  /** One of chat, fast, embedding, transcription, speech. */
  role: string;
  body: RoleBinding;
}

export interface GetModelPricesInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface SetModelPricesInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewModelPrices;
}

export interface SetMailRelayInput {
  body: NewMailRelay;
}

export interface TestMailRelayInput {
  body: TestMail;
}

export interface ListAuditLogsInput {
  /** Slug of the agent that was changed; deleted ones too. */
  instanceId?: string;
  /** Id, name or type (`user`, `key`, `system`) of who acted, exactly. Without `from` the last 90 days, before `to`, are looked at: give an earlier `from` for more. */
  actor?: string;
  /** The action, exactly; with `.` or `*` at its end, all that begin so. */
  action?: string;
  /** Part of the target, the actor's name or the action, in upper or lower case. Without `from` the last 90 days, before `to`, are looked at: give an earlier `from` for more. */
  search?: string;
  /** ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive. */
  from?: string;
  /** Like `from`, but exclusive. */
  to?: string;
  /** 50 unless given. */
  limit?: number;
  /** How many to skip; to go back further, give a `to`. */
  offset?: number;
}

export interface GetAuditStatsInput {
  /** ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive. */
  from?: string;
  /** Like `from`, but exclusive. */
  to?: string;
}

export interface GetAnalyticsInput {
  /** ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive. */
  from?: string;
  /** Like `from`, but exclusive. */
  to?: string;
}

export interface GetInstanceAnalyticsInput {
  /** The agent's slug. */
  slug: string;
  /** ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive. */
  from?: string;
  /** Like `from`, but exclusive. */
  to?: string;
}

export interface GetUsageInput {
  /** What the numbers are of. */
  by: "agent" | "user" | "model" | "day";
  /** Slug of an agent: its numbers alone. */
  instanceId?: string;
  /** ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive. */
  from?: string;
  /** Like `from`, but exclusive. */
  to?: string;
  /** 50 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface ListAgentToolsInput {
  /** The agent's slug. */
  slug: string;
}

export interface PutAgentToolsInput {
  /** The agent's slug. */
  slug: string;
  body: ToolChanges;
}

export interface ListRequiredSecretsInput {
  /** The agent's slug. */
  slug: string;
}

export interface ListPluginsInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface GetPluginInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** What its tools are called by: lower-case letters, digits and dashes. A new one can't have the namespace of a plugin of the server. */
  namespace: string;
}

export interface PutPluginInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** What its tools are called by: lower-case letters, digits and dashes. A new one can't have the namespace of a plugin of the server. */
  namespace: string;
  body: PluginSettings;
}

export interface DeletePluginInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** What its tools are called by: lower-case letters, digits and dashes. A new one can't have the namespace of a plugin of the server. */
  namespace: string;
}

export interface RefreshPluginInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** What its tools are called by: lower-case letters, digits and dashes. A new one can't have the namespace of a plugin of the server. */
  namespace: string;
}

export interface ListPluginPackagesInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface PutPluginPackageInput {
  /** Slug of the organization. */
  orgSlug: string;
  /** The namespace of its tools. */
  namespace: string;
  body: PluginPackageSettings;
}

export interface ListHooksInput {
  /** The agent's slug. */
  slug: string;
}

export interface CreateHookInput {
  /** The agent's slug. */
  slug: string;
  body: NewHook;
}

export interface UpdateHookInput {
  /** The agent's slug. */
  slug: string;
  /** The hook's id. */
  id: string;
  body: HookChanges;
}

export interface DeleteHookInput {
  /** The agent's slug. */
  slug: string;
  /** The hook's id. */
  id: string;
}

export interface ListMemoriesInput {
  /** Only this agent's. */
  instanceId?: string;
  /** Only about this end user. */
  subject?: string;
  /** The channel of `subject`, which it needs: equal ids of two channels are two people. `web` where absent. */
  subjectChannel?: "web" | "telegram" | "slack" | "whatsapp" | "conversation";
  /** Words that all occur, or their beginnings, in any case, with accents or without. */
  search?: string;
  /** The category, exactly. */
  category?: string;
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface CreateMemoryInput {
  body: NewMemory;
}

export interface DeleteMemoriesInput {
  /** Only this agent's. */
  instanceId?: string;
  /** Only about this end user. */
  subject?: string;
  /** The channel of `subject`, which it needs: equal ids of two channels are two people. `web` where absent. */
  subjectChannel?: "web" | "telegram" | "slack" | "whatsapp" | "conversation";
}

export interface DeleteMemoryInput {
  /** The memory's id. */
  id: string;
}

export interface GetFileInput {
  /** The file's id. */
  id: string;
}

export interface GetLinkedFileInput {
  /** The file's id. */
  id: string;
  /** Until when the link is valid, in seconds since the epoch. */
  expires?: string;
  /** The proof that this server made the link. */
  signature?: string;
}

export interface ListConversationsInput {
  /** Only this agent's: its slug. */
  instanceId?: string;
  /** The channel, exactly. */
  channel?: string;
  /** What it came from: a person, a webhook's event, the agent's Room or a scheduled task. */
  source?: "user" | "webhook" | "room" | "scheduled";
  /** Part of the title, or words that all occur in one message, in any case; the last may be a word's beginning. */
  search?: string;
  /** ISO 8601 date, or date and time with a zone; a date means its beginning in UTC. Inclusive. */
  from?: string;
  /** Like `from`, but exclusive. */
  to?: string;
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface GetConversationInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
}

export interface RenameConversationInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
  body: ConversationChange;
}

export interface DeleteConversationInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
}

export interface ListMessagesInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
  /** 50 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
  /** `asc` unless given: the oldest first. */
  order?: "asc" | "desc";
}

export interface GetConversationStateInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
}

export interface ListHookExecutionsInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
  /** 200 unless given. */
  limit?: number;
  /** How many to skip, counted from the newest. */
  offset?: number;
}

export interface ListTurnsInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface GetTurnInput {
  /** The conversation's id, percent-encoded. */
  conversationId: string;
  /** The turn's id, which is the id of the agent's message as well. */
  turnId: string;
}

export interface StreamActivityInput {
  /** The slug of an agent: only its events. */
  instance?: string;
  /** The id of the last event that was read, from an earlier stream of this process. */
  lastEventId?: string;
}

export interface StreamConversationsInput {
  /** The id of the last event that was read, from an earlier stream of this process. */
  lastEventId?: string;
}

export interface StreamConversationActivityInput {
  /** The public id of a stored conversation, on any channel. */
  conversationId: string;
  /** The slug of the conversation's agent. */
  instanceId: string;
  /** The id of the last event that was read, from an earlier stream of this process. */
  lastEventId?: string;
}

export interface GetRetentionInput {
  /** Slug of the organization. */
  orgSlug: string;
}

export interface SetRetentionInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewRetentionPolicies;
}

export interface PreviewRetentionInput {
  /** Slug of the organization. */
  orgSlug: string;
  body?: RetentionPreviewRequest;
}

export interface CreateErasureInput {
  /** Slug of the organization. */
  orgSlug: string;
  body: NewErasure;
}

export interface ListApprovalsInput {
  /** Only what waits is listed. */
  status?: "pending";
  /** Only this agent's: its slug. */
  instanceId?: string;
  /** 20 unless given. */
  limit?: number;
  /** How many to skip. */
  offset?: number;
}

export interface DecideApprovalInput {
  /** The conversation's id, percent-encoded. */
  id: string;
  /** As `done` has it in `metadata.approval`. */
  toolCallId: string;
  body: ApprovalDecision;
}

export interface StreamPlaygroundInput {
  /** The agent's slug. */
  slug: string;
  /** With `chat_id`: the same request with the same key is answered once, for 24 hours; a repeat gets the stored reply, marked by the header `Idempotent-Replayed: true`. 1 to 255 visible ASCII characters. */
  idempotencyKey?: string;
  body: PlaygroundRequest;
}

export interface ResumePlaygroundInput {
  /** The agent's slug. */
  slug: string;
  /** Of the turn: what stands before the colon in the ids of its events. */
  messageId: string;
  /** `<messageId>:<n>`, as the events have it. */
  lastEventId?: string;
}

export interface StopPlaygroundInput {
  /** The agent's slug. */
  slug: string;
  /** Of the turn: what stands before the colon in the ids of its events. */
  messageId: string;
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
   * A turn that is stopped before its end, as when its conversation is deleted, is an error: 409 before the first output. While the agent's `authEnabled` is off, a request without the agent's key whose `Origin` is neither the server's own nor in the agent's `allowedOrigins` is 403; its own are the public address, and an IP address or localhost that it is reached by.
   *
   * At most 20 requests a minute for each client address, unless the operator sets `CHAT_REQUESTS_PER_MINUTE`, and 256 KiB of new text in each. With `X-Error-Format: openai`, and to the vendor's own clients (`X-Stainless-Lang`), errors come in the vendor's shape.
   *
   * After 20 wrong keys in a minute from one client address, further ones from there are 429; after 20 for one agent its right key is too, but for where that was right before.
   *
   * A server with more to do than it can refuses new turns at once with 503 and `Retry-After`, before it looks at credentials; such a call is counted by no limit and may be sent again as it is. A known 429 of a throttle goes before. Its places are shared fairly: by organization, then by agent, then by client address. Turns that run, resuming and stopping are not refused.
   */
  createChatCompletion(input: CreateChatCompletionInput, options?: CallOptions): Promise<ChatCompletion>;

  /**
   * Chat with an agent and see everything that happens.
   *
   * Typed server-sent events: `hook-execution` { hookId, event, toolName, success, durationMs }, `step-start` { index, stepType }, `reasoning-delta` { text }, `tool-call` { id, name, args }, `tool-result` { id, result }, `text-delta` { text }, `step-finish` { index, finishReason }, `done` { conversationId, messageId, metadata? }, `error` { message }.
   *
   * Each event of a turn has an id `<messageId>:<n>`; the comment `: ping` comes every 25 seconds. What fails after the stream opened is `error`, then `done`.
   *
   * At most 256 KiB of new text in a turn, and 256 open streams for each client address. The policy `rateLimit` counts calls by the agent's key and the client's address, without the key by the address. While the agent's `authEnabled` is off, a request without the agent's key whose `Origin` is neither the server's own nor in the agent's `allowedOrigins` is 403; its own are the public address, and an IP address or localhost that it is reached by.
   *
   * After 20 wrong keys in a minute from one client address, further ones from there are 429; after 20 for one agent its right key is too, but for where that was right before.
   *
   * A server with more to do than it can refuses new turns at once with 503 and `Retry-After`, before it looks at credentials; such a call is counted by no limit and may be sent again as it is. A known 429 of a throttle goes before. Its places are shared fairly: by organization, then by agent, then by client address. Turns that run, resuming and stopping are not refused.
   */
  streamChat(input: StreamChatInput, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;

  /**
   * Chat with an agent, under the playground's address.
   *
   * The same as `streamChat`, for clients that know this address: with the agent's key, while the Web channel is on, and in the same conversations. Streams are resumed and stopped under the address of `streamChat`.
   */
  streamChatAlias(input: StreamChatAliasInput, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;

  /**
   * Go on with a stream that broke off.
   *
   * What came after the event named in the header `Last-Event-ID`, or all of it, then what happens: until 60 seconds after the end of the turn. The stream of a turn that waits for an approval stays open behind its `done` and goes on with the turn that continues it; it ends when nothing will come any more. Turns with `chat_id` can be followed on any replica.
   */
  resumeChat(input: ResumeChatInput, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;

  /**
   * Stop a turn.
   *
   * What it has produced is stored with `metadata.stopped`. On another replica than the turn's own it takes a few seconds.
   */
  stopChat(input: StopChatInput, options?: CallOptions): Promise<Stopped>;

  /**
   * The agents that can be named as model.
   *
   * With an agent's key: that agent, while its Web channel is on; pages of its `allowedOrigins` may read the answer. With a session: the active agents within reach. A management key is refused.
   */
  listModels(input?: Record<string, never>, options?: CallOptions): Promise<ModelList>;

  /**
   * One of the agents that can be named as model.
   *
   * An entry of the list of `/v1/models`, for the same callers.
   */
  getModel(input: GetModelInput, options?: CallOptions): Promise<Model>;

  /**
   * Whether the server takes requests.
   *
   * Needs no authentication. Answers 503 only while the server is stopping, whatever `database` says. With the embedded database it answers before that is open.
   */
  getHealth(input?: Record<string, never>, options?: CallOptions): Promise<Health>;

  /**
   * Whether a balancer should send requests here.
   *
   * Needs no authentication. Writes one row of the database, at most once a second for all callers together. For load balancers and readiness probes; whether to restart the process is the question of `GET /health`.
   */
  getReadiness(input?: Record<string, never>, options?: CallOptions): Promise<Ready>;

  /**
   * Numbers for monitoring.
   *
   * For a Prometheus server, in its text format: turns, tokens, tools, queues, streams and the process itself. It wants the token that the server was started with (`METRICS_TOKEN`) and answers 404 where there is none. The numbers of queues and files are of the whole installation, up to 5 seconds and 10 minutes old; all others are those of the process that answers.
   */
  getMetrics(input?: Record<string, never>, options?: CallOptions): Promise<Blob>;

  /**
   * Whether there is an owner.
   *
   * Tells a page whether to sign in or to set up, and with the token of a setup link whether that link still works. A wrong token is noted in the audit log. Calls count for the policy `rateLimit` by the client's address.
   */
  getSetup(input?: GetSetupInput, options?: CallOptions): Promise<SetupState>;

  /**
   * Make the first owner.
   *
   * Takes the token of the one-time link that the server prints while nobody owns it, and makes the owner, an organization and its workspace `default`. Sign in afterwards. Calls count for the policy `rateLimit` by the client's address.
   */
  setUp(input: SetUpInput, options?: CallOptions): Promise<Installed>;

  /**
   * Sign in with e-mail and password.
   *
   * Answers a session token and sets it as the cookie `agent_engine.session_token`. Within 15 minutes an address has 10 failures for an account, 50 failures in all, and 100 sign-ins, the successful ones too; after that it gets 429 until they are over. An IPv6 address counts with its /64, and a /48 has 500 failures. Within an hour an account has 50 failures from all addresses; after that it gets 429, but a right password passes from an address that it signed in from within 90 days. A fifth sign-in of an address while four of its own wait is 429 with `Retry-After: 1`; with too many of all waiting, 503 with `Retry-After`.
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
   * The signed-in user with the organizations they belong to; while a member or key of an organization knows the password, with that one alone. A management key is nobody: 403.
   */
  getMe(input?: Record<string, never>, options?: CallOptions): Promise<Me>;

  /**
   * Change the current user.
   *
   * Changes the name, in every organization of the user; at most 10 times an hour.
   */
  changeMe(input: ChangeMeInput, options?: CallOptions): Promise<Me>;

  /**
   * Remember something of the current user.
   *
   * Merges a flat JSON object into `onboarding`; null removes a key. With what is stored it may have at most 8192 bytes of JSON: more is 413.
   */
  changeOnboarding(input: ChangeOnboardingInput, options?: CallOptions): Promise<Me>;

  /**
   * Change the password.
   *
   * Ends the user's other sessions, and opens the other organizations of somebody whose password was set by another person. A wrong `currentPassword` is 400; after 10 of them within 15 minutes the user gets 429 until they are over. With too many passwords waiting to be checked, 503 with `Retry-After`.
   */
  changePassword(input: ChangePasswordInput, options?: CallOptions): Promise<Success>;

  /**
   * List sessions.
   *
   * The current user's live sessions, never their tokens; of more than 1000 the newest.
   */
  listSessions(input?: Record<string, never>, options?: CallOptions): Promise<Sessions>;

  /**
   * End the other sessions.
   *
   * Signs the current user out everywhere but here.
   */
  endOtherSessions(input?: Record<string, never>, options?: CallOptions): Promise<EndedSessions>;

  /**
   * End a session.
   *
   * Ends one session of the current user. The one of this call is signed out, and its cookie cleared.
   */
  endSession(input: EndSessionInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Choose the organization.
   *
   * Requests of this session that name no organization in `X-Organization` mean this one from now on.
   */
  chooseOrganization(input: ChooseOrganizationInput, options?: CallOptions): Promise<ChosenOrganization>;

  /**
   * List personal tokens.
   *
   * The current user's tokens that have not expired, without the tokens themselves.
   */
  listPersonalTokens(input?: Record<string, never>, options?: CallOptions): Promise<PersonalTokens>;

  /**
   * Create a personal token.
   *
   * A token for programs that acts as the current user in the organization of this call, and is shown only here. It has the user's role there as it is with each call, and never more than that; `/api/me` and the playground refuse it. A Platform Admin's token of the scope `installation` names the organization of each call in `X-Organization` or in the path, and the audit log there tells of each use; it manages no accounts. A user has at most 20 tokens. 409 also for somebody whose password somebody else chose.
   */
  createPersonalToken(input: CreatePersonalTokenInput, options?: CallOptions): Promise<CreatedPersonalToken>;

  /**
   * Delete a personal token.
   *
   * It stops working at once.
   */
  deletePersonalToken(input: DeletePersonalTokenInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Ask for a link to reset the password.
   *
   * Mails a link, which works once and for 30 minutes, when the e-mail has an active account and the installation has a mail relay. The answer is the same in each case. An e-mail gets 3 mails an hour. Calls count for the policy `rateLimit` by the client's address.
   */
  forgotPassword(input: ForgotPasswordInput, options?: CallOptions): Promise<Success>;

  /**
   * Reset the password with a link.
   *
   * Takes the token of the link in the mail, sets the password and ends all sessions of the user. Sign in afterwards. Calls count for the policy `rateLimit` by the client's address.
   */
  resetPassword(input: ResetPasswordInput, options?: CallOptions): Promise<Success>;

  /**
   * List organizations.
   *
   * Those that the caller belongs to, each with the role held there. A management key belongs to one. A Platform Admin gets all organizations.
   */
  listOrganizations(input?: Record<string, never>, options?: CallOptions): Promise<Organizations>;

  /**
   * Create an organization.
   *
   * With a workspace `default` and one Owner: the account of `ownerEmail`, else the calling user. An account whose password somebody else chose is refused with 409 until its holder chooses another. The permission has to be held in the first organization, in whose audit log this is recorded. Only by a person: no management key makes an Owner.
   */
  createOrganization(input: CreateOrganizationInput, options?: CallOptions): Promise<OrganizationAnswer>;

  /**
   * Read an organization.
   *
   * One that the caller reaches, with the role held there.
   */
  getOrganization(input: GetOrganizationInput, options?: CallOptions): Promise<OrganizationAnswer>;

  /**
   * Rename an organization.
   *
   * Changes what is given. Sessions and management keys go on under a new slug.
   */
  updateOrganization(input: UpdateOrganizationInput, options?: CallOptions): Promise<OrganizationAnswer>;

  /**
   * Delete an organization.
   *
   * `confirm` has to be its slug. Nobody reaches it from then on: members, keys and agents are refused at once. Its agents with all their data, skills, plugins and workspaces are deleted in the background, its slug is free afterwards, and its entries in the audit log become entries of the installation. Accounts stay. The first organization can't be deleted. There is no way back.
   */
  deleteOrganization(input: DeleteOrganizationInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List members.
   *
   * Everybody who belongs to the organization, with their roles; `passwordPending` marks those whose password somebody else chose.
   */
  listMembers(input: ListMembersInput, options?: CallOptions): Promise<Members>;

  /**
   * Add a member.
   *
   * An e-mail without an account gets one; a password that was generated for it is shown only here. Until the new person changes the password, the account reaches this organization only. The holder of an account that exists is invited (`invited`) and joins by accepting in `POST /api/me/invitations/{id}`, within 14 days; another call renews the invitation. Name and password are of no use then, and nothing is told of the account. Members and Viewers also need a workspace. Only a person, never a management key, may make an Owner.
   */
  addMember(input: AddMemberInput, options?: CallOptions): Promise<AddedMember | Invited>;

  /**
   * Change a member's role.
   *
   * In force from the member's next call on. Only an Owner may make or change one, and no management key makes one; the last Owner stays.
   */
  changeMemberRole(input: ChangeMemberRoleInput, options?: CallOptions): Promise<Assigned>;

  /**
   * Remove a member.
   *
   * Takes the organization and its workspaces away at once; the account and its other organizations stay. Only an Owner may remove one; the last Owner stays.
   */
  removeMember(input: RemoveMemberInput, options?: CallOptions): Promise<Removed>;

  /**
   * Renew a member's password.
   *
   * Makes a new password, which only this answer shows, ends the member's sessions and withdraws invitations of others. Until the member changes it, they are listed with `passwordPending`. For members who belong to no other organization and whose role is not higher than the caller's; an Owner's account only by a person, and nobody's own.
   */
  renewMemberPassword(input: RenewMemberPasswordInput, options?: CallOptions): Promise<RenewedPassword>;

  /**
   * Sign a member out.
   *
   * Ends all sessions of a member at once. For members who belong to no other organization and whose role is not higher than the caller's; an Owner's account only by a person, and nobody's own.
   */
  endMemberSessions(input: EndMemberSessionsInput, options?: CallOptions): Promise<EndedSessions>;

  /**
   * Leave an organization.
   *
   * Takes it and its workspaces from the current user at once. The last Owner stays: 409.
   */
  leaveOrganization(input: LeaveOrganizationInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List roles.
   *
   * The built-in roles, from the most permissions to the least, then the organization's own by name.
   */
  listRoles(input: ListRolesInput, options?: CallOptions): Promise<Roles>;

  /**
   * Create a role.
   *
   * At most 50. 403 for a permission that the caller lacks. The role stays in force when the feature is off again.
   */
  createRole(input: CreateRoleInput, options?: CallOptions): Promise<RoleAnswer>;

  /**
   * Replace a role.
   *
   * In force from its holders' next call on. A built-in role is 409; 403 for a permission that the caller lacks.
   */
  updateRole(input: UpdateRoleInput, options?: CallOptions): Promise<RoleAnswer>;

  /**
   * Delete a role.
   *
   * With the invitations that offer it. 409 for a built-in role, and while members have it. Needs a signed-in session.
   */
  deleteRole(input: DeleteRoleInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List invitations.
   *
   * Those that may still be accepted. One ends after 14 days, and with its inviter's right to make it: with their membership or role, or with the management key.
   */
  listSentInvitations(input: ListSentInvitationsInput, options?: CallOptions): Promise<SentInvitations>;

  /**
   * Withdraw an invitation.
   *
   * It can't be accepted any more.
   */
  withdrawInvitation(input: WithdrawInvitationInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List one's invitations.
   *
   * The organizations that the current user may join. None while `passwordChangeRequired` is true: whoever knows the password could join in the user's place.
   */
  listInvitations(input?: Record<string, never>, options?: CallOptions): Promise<Invitations>;

  /**
   * Accept or decline an invitation.
   *
   * Who accepts is a member from the next call on. The organization learns of either, and from then on sees when members sign in.
   */
  answerInvitation(input: AnswerInvitationInput, options?: CallOptions): Promise<InvitationAnswered>;

  /**
   * List workspaces.
   *
   * Those within the caller's reach: all for Owners, Admins and management keys, else the assigned ones.
   */
  listWorkspaces(input: ListWorkspacesInput, options?: CallOptions): Promise<Workspaces>;

  /**
   * Create a workspace.
   *
   * It begins without agents and without members.
   */
  createWorkspace(input: CreateWorkspaceInput, options?: CallOptions): Promise<WorkspaceAnswer>;

  /**
   * Rename a workspace.
   *
   * Agents and members stay as they are.
   */
  renameWorkspace(input: RenameWorkspaceInput, options?: CallOptions): Promise<WorkspaceAnswer>;

  /**
   * Delete a workspace.
   *
   * Refused with 409 while it holds agents, and for the organization's last workspace.
   */
  deleteWorkspace(input: DeleteWorkspaceInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List a workspace's members.
   *
   * Those with an entry of their own, with their roles in the organization. Owners and Admins reach every workspace without one.
   */
  listWorkspaceMembers(input: ListWorkspaceMembersInput, options?: CallOptions): Promise<Members>;

  /**
   * Let a member reach a workspace.
   *
   * For a member of the organization; doing it again changes nothing.
   */
  assignWorkspaceMember(input: AssignWorkspaceMemberInput, options?: CallOptions): Promise<Assigned>;

  /**
   * Take a workspace from a member.
   *
   * In force at once; doing it again changes nothing. Owners and Admins reach every workspace anyway.
   */
  unassignWorkspaceMember(input: UnassignWorkspaceMemberInput, options?: CallOptions): Promise<Removed>;

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
   * The key stops working at once. Needs a signed-in session; with the feature `administration`, a management key can revoke itself.
   */
  deleteManagementKey(input: DeleteManagementKeyInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List users.
   *
   * All users of the installation, by e-mail, each with the organizations that the user belongs to.
   */
  listUsers(input?: ListUsersInput, options?: CallOptions): Promise<Users>;

  /**
   * Create a user.
   *
   * An account without an organization: add it to the members of one. Its password counts as known to the caller, so `GET /api/me` of the user has `passwordChangeRequired`.
   */
  createUser(input: CreateUserInput, options?: CallOptions): Promise<UserAnswer>;

  /**
   * Read a user.
   *
   * A user with the organizations that the user belongs to.
   */
  getUser(input: GetUserInput, options?: CallOptions): Promise<UserAnswer>;

  /**
   * Change a user.
   *
   * Changes what is given. `active: false` ends the user's sessions, tokens and sent invitations at once and open streams within 2 seconds; a new password ends the sessions. 409 for the last Platform Admin, for the last Owner of an organization, and for the caller's own password, which `/api/me/password` changes.
   */
  updateUser(input: UpdateUserInput, options?: CallOptions): Promise<UserAnswer>;

  /**
   * Delete a user.
   *
   * Deletes the account with its memberships, invitations, sessions and tokens. What the user made stays. 409 for the last Platform Admin and for the last Owner of an organization.
   */
  deleteUser(input: DeleteUserInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Set a user's password.
   *
   * Ends the user's sessions, and the links to reset the former password. `GET /api/me` of the user has `passwordChangeRequired` until the user chooses another. 409 for the caller's own account.
   */
  resetUserPassword(input: ResetUserPasswordInput, options?: CallOptions): Promise<UserAnswer>;

  /**
   * See what a user sees.
   *
   * Issues a token for GET and HEAD requests with the user's rights; anything else is 403, and so are streams of turns. Its requests are in the audit logs, with both persons. It ends with its time, with `POST /api/auth/stop-impersonating`, and when the caller is a Platform Admin no more or the user becomes one. A Platform Admin can't be impersonated: 403. An inactive user: 409.
   */
  impersonateUser(input: ImpersonateUserInput, options?: CallOptions): Promise<ImpersonationToken>;

  /**
   * Stop seeing what a user sees.
   *
   * Ends the impersonation whose token the request has. A session of one's own goes on.
   */
  stopImpersonating(input?: Record<string, never>, options?: CallOptions): Promise<Success>;

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
   * A choice, not a limit: an agent may name any model its provider knows. `configured` speaks of the environment, as far as the policy `environmentKeys` lets this organization use it, and in the managed edition of the organization's default connection; an agent's own secrets and connections count as well.
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
   * An agent as a file.
   *
   * With its prompts, tools, skills, channels, hooks, Room, event sources and scheduled tasks, in format 1.3. It holds no secret: of secrets and credentials it only says which are configured. What is written into texts, such as prompts and arguments of hooks, is there as it is. Nor does it hold conversations, memories, and tasks that the agent made by its tool. An unchanged agent gives the same text again, but for `exportedAt`. Where an agent has thousands of long texts it may be larger than the 8 MiB that an import takes.
   */
  exportAgent(input: ExportAgentInput, options?: CallOptions): Promise<AgentBundle>;

  /**
   * Make an agent from a file.
   *
   * A slug that is taken becomes `<slug>-imported`, `<slug>-imported-2` and so on. Event sources get addresses of their own.
   *
   * Takes the formats 1.0 to 1.5, up to 8 MiB, all or nothing. A bundle brings no secret: `warnings` name those that have to be set, skills and tools that are not there, and fields that a bundle does not have, which are left out. 1.3 is as the export writes it; each part that is left out is as in a new agent. A bundle older than the Web switch (all but 1.3 and 1.5) is imported with Web on. Where Web is on, authentication too, and there is no API key, Web is imported off, with the warning `web_key_missing`.
   *
   * Each part that differs asks for the permission of its own route, such as `agent.governance:write` for hooks.
   */
  importAgent(input: ImportAgentInput, options?: CallOptions): Promise<ImportedAgent>;

  /**
   * Replace an agent's configuration by a file's.
   *
   * The agent becomes what the bundle says. Its slug, workspace, secrets, credentials of channels, sensitive variables of skills, conversations and memories stay, and so do tasks that it made by its tool. An event source keeps its address and key, and a task its runs, where the bundle has one of the same name. A bundle without a Room discards what waits in the backlog.
   *
   * Takes the formats 1.0 to 1.5, up to 8 MiB, all or nothing. A bundle brings no secret: `warnings` name those that have to be set, skills and tools that are not there, and fields that a bundle does not have, which are left out. 1.3 is as the export writes it; each part that is left out is as in a new agent. A bundle older than the Web switch (all but 1.3 and 1.5) is imported with Web on. Where Web is on, authentication too, and there is no API key, Web is imported off, with the warning `web_key_missing`.
   *
   * Each part that differs asks for the permission of its own route, such as `agent.governance:write` for hooks.
   */
  replaceAgent(input: ReplaceAgentInput, options?: CallOptions): Promise<ImportedAgent>;

  /**
   * The prompt of an agent.
   *
   * All eight sections in the order in which they make up the prompt, with the engine's own text where none is stored.
   */
  listPrompts(input: ListPromptsInput, options?: CallOptions): Promise<Prompts>;

  /**
   * Change sections of an agent's prompt.
   *
   * Sections that are not named stay as they are. Takes effect with the next turn.
   *
   * Placeholders: `{{name}}` and `{{description}}` of the agent, `{{skillsList}}`, `{{memories}}` of the user, `{{state}}` of the conversation, `{{userName}}`, `{{datetime}}`, `{{timezone}}`. Blanks inside the braces mean nothing. Any other `{{…}}` stays as it is, and what a value holds is not filled in itself. Named again, values are filled in up to 1,048,576 characters in all; further placeholders stay. A line that holds nothing but a placeholder, or a label with a colon before it, is left out when there is nothing to say, and so are a lead-in with a colon and a heading that have nothing left below. Enabled skills, memories and state are added to their section when no section names their placeholder, unless that section is empty.
   *
   * Values that change with each turn (`{{memories}}`, `{{state}}`, `{{userName}}`, `{{datetime}}`) belong into the last three sections: providers' prompt caches reach as far as the first difference.
   */
  savePrompts(input: SavePromptsInput, options?: CallOptions): Promise<Prompts>;

  /**
   * Read the assembled prompt of an agent.
   *
   * The sections with everything filled in: the agent's skills, the caller's name and the time; the memories and the state of a conversation are empty. `sections` take the place of the stored ones, and nothing is stored.
   */
  previewPrompts(input: PreviewPromptsInput, options?: CallOptions): Promise<PromptPreview>;

  /**
   * Which secrets an agent has.
   *
   * The well-known keys first, stored or not, then the agent's own. Values are never answered.
   */
  listAgentSecrets(input: ListAgentSecretsInput, options?: CallOptions): Promise<SecretList>;

  /**
   * Store secrets of an agent.
   *
   * Adds to what is stored and replaces equal keys; an empty value is skipped, and so is one that is stored already: where nothing else is sent, nothing changes. Takes effect with the next turn. Values of at least six characters are blotted out of whatever the agent says. `auth_api_key` must be no other agent's and have at least 16 characters. A `<provider>_base_url` leads to public addresses and the hosts of the policy `httpAllowedHosts` only; one of another origin than the provider's address so far deletes the stored `<provider>_api_key`, which `dropped` then names, unless the same request brings the key. An agent keeps at most 256 KiB of secrets and variables of skills, each counted in UTF-8 and with 28 bytes for its encryption; more is 400. With the feature `providers`, the keys and addresses of model providers are 400 `Use provider connections`.
   */
  putAgentSecrets(input: PutAgentSecretsInput, options?: CallOptions): Promise<SecretList>;

  /**
   * Delete a secret of an agent.
   *
   * Takes effect with the next turn. Deleting what is not there is fine. With a `<provider>_base_url` goes the stored `<provider>_api_key`, where the provider's address becomes another one by that.
   */
  deleteAgentSecret(input: DeleteAgentSecretInput, options?: CallOptions): Promise<Deleted>;

  /**
   * The organization's skills.
   *
   * By name, each as its current version has it.
   */
  listSkills(input: ListSkillsInput, options?: CallOptions): Promise<SkillList>;

  /**
   * Create a skill.
   *
   * Version 0.1.0. The slug is the name in lower case, with a dash for each character outside a-z, 0-9 and -. No workspace may use it until it is allowed there. An organization has at most 500 skills, with 16 MiB of content and requirements in all: more are 409.
   */
  createSkill(input: CreateSkillInput, options?: CallOptions): Promise<Skill>;

  /**
   * Read a skill.
   *
   * As its current version has it.
   */
  getSkill(input: GetSkillInput, options?: CallOptions): Promise<Skill>;

  /**
   * Save a new version of a skill.
   *
   * Replaces description, content, required variables and tools: the two lists become empty when left out. Scripts stay as they are. The next minor version is made, behind `0.999999.0` the next major one; agents keep the one they pinned until they are upgraded. A skill has at most 500 versions, and the organization's skills have 16 MiB in all, and 512 MiB in the database with the scripts of all versions: more are 409.
   */
  updateSkill(input: UpdateSkillInput, options?: CallOptions): Promise<Skill>;

  /**
   * Delete a skill.
   *
   * With its versions, and with what agents stored for it. Agents lose it at once, and the tools that only it had turned on. There is no way back.
   */
  deleteSkill(input: DeleteSkillInput, options?: CallOptions): Promise<Deleted>;

  /**
   * The versions of a skill.
   *
   * Newest first.
   */
  listSkillVersions(input: ListSkillVersionsInput, options?: CallOptions): Promise<SkillVersions>;

  /**
   * Read one version of a skill.
   *
   * By its number.
   */
  getSkillVersion(input: GetSkillVersionInput, options?: CallOptions): Promise<SkillVersion>;

  /**
   * Export a skill.
   *
   * With its versions and scripts, in the form that the import takes; only the newest versions where all have over 8 MiB together.
   */
  exportSkill(input: ExportSkillInput, options?: CallOptions): Promise<SkillImport>;

  /**
   * Which skills a workspace may use.
   *
   * Empty for a new workspace.
   */
  listAllowedSkills(input: ListAllowedSkillsInput, options?: CallOptions): Promise<AllowedSkills>;

  /**
   * Let a workspace use a skill.
   *
   * Its agents can enable it from now on; one that still has it enabled is served it again.
   */
  allowSkill(input: AllowSkillInput, options?: CallOptions): Promise<Allowed>;

  /**
   * Take a skill from a workspace.
   *
   * Its agents are served it no longer, from the next turn on, and lose the tools that only it had turned on. What they enabled and stored stays, for when it is allowed again. Taking what was not allowed is fine.
   */
  disallowSkill(input: DisallowSkillInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Skills of an agent.
   *
   * What its workspace allows, and what it has enabled, by slug. One that is enabled shows the version the agent pinned, the others their current one.
   */
  listAgentSkills(input: ListAgentSkillsInput, options?: CallOptions): Promise<AgentSkills>;

  /**
   * Choose an agent's skills.
   *
   * `enabled` is the complete set: what it leaves out is turned off. A skill that is turned on pins its current version and turns on the tools it requires. A skill that is unknown, or not allowed in the agent's workspace, is refused with 400, and nothing changes.
   */
  setAgentSkills(input: SetAgentSkillsInput, options?: CallOptions): Promise<AgentSkillsChanged>;

  /**
   * Pin the current version of a skill.
   *
   * Takes effect with the next turn. Fine when it is pinned already. A version that requires tools which the organization does not have is refused with 400.
   */
  upgradeAgentSkill(input: UpgradeAgentSkillInput, options?: CallOptions): Promise<SkillUpgraded>;

  /**
   * Pin an earlier version of a skill.
   *
   * The version named, else the one that was pinned before. Takes effect with the next turn. A version that requires tools which the organization does not have is refused with 400.
   */
  rollBackAgentSkill(input: RollBackAgentSkillInput, options?: CallOptions): Promise<SkillRolledBack>;

  /**
   * Load a skill into each prompt, or not.
   *
   * Off, the prompt names the skill and the model reads it when it needs to; on, its whole content stands in the prompt. Without a body it is turned round.
   */
  autoLoadAgentSkill(input: AutoLoadAgentSkillInput, options?: CallOptions): Promise<SkillAutoLoadAnswer>;

  /**
   * Variables of a skill on an agent.
   *
   * What the skill asks for, then what else is stored. The value of a sensitive one is never answered. They may be set before the skill is enabled, and stay when it is turned off.
   */
  listSkillEnv(input: ListSkillEnvInput, options?: CallOptions): Promise<SkillEnv>;

  /**
   * Store variables of a skill on an agent.
   *
   * Adds to what is stored and replaces equal keys; an empty sensitive value is skipped. Values are stored encrypted, and take effect with the next turn. What the skill declares sensitive is so, whatever is sent; it is blotted out of whatever is said, so it must have six characters. A value is blotted out whether or not the pinned version declares its key, also while the skill is off; it is used only while the agent is served the skill. Where the version used now, or the one used when the value was stored, lists `hosts`, it goes only where all that list some let it. An agent keeps at most 256 variables of a skill, and 256 KiB of secrets and variables in all, each counted in UTF-8 and with 28 bytes for its encryption; more is 400.
   */
  putSkillEnv(input: PutSkillEnvInput, options?: CallOptions): Promise<SkillEnv>;

  /**
   * Delete a variable of a skill on an agent.
   *
   * The key percent-encoded, a slash in it too. Deleting what is not there is fine.
   */
  deleteSkillEnv(input: DeleteSkillEnvInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Import skills.
   *
   * As JSON, or as a zip of folders with a `SKILL.md` each: YAML front matter with name and description, then the content; `scripts/*.js` become scripts, and `references/*.md` are appended to the content. At most 8 MiB, also once unpacked. Skills that are there get what they lack as new versions; nothing stored is replaced. More than 500 skills of the organization, or versions of a skill, or 16 MiB of the skills' content and requirements in all, or 512 MiB in the database with the scripts of all versions, are 409. All or nothing.
   */
  importSkills(input: ImportSkillsInput, options?: CallOptions): Promise<SkillImportAnswer>;

  /**
   * Where an agent is reached.
   *
   * Each channel, on or off, with how far its start is. Credentials are shown as masks, which may be sent back. The channel `agent` is on unless it was turned off: other agents of the workspace may ask this one.
   */
  listAgentChannels(input: ListAgentChannelsInput, options?: CallOptions): Promise<ChannelList>;

  /**
   * Set up a channel and turn it on or off.
   *
   * Fields that are left out stay as they are. A channel can't be turned on without what it needs: the 400 names each field; what comes in the same request counts. A messenger's channel that is on starts anew with each save, in the background: `status` and `lastError` say how that went. 409: another agent uses the same bot, or the same key of Web.
   */
  putAgentChannel(input: PutAgentChannelInput, options?: CallOptions): Promise<ChannelAnswer>;

  /**
   * Turn a channel off.
   *
   * A messenger's credentials are forgotten, and the messenger is told to call no more. Web keeps its key and its context mapping. Turning off what is off is fine.
   */
  deleteAgentChannel(input: DeleteAgentChannelInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Ask a messenger whether a channel works.
   *
   * Whether the messenger takes the credentials and, while the channel is on, whether its calls arrive: asked of the messenger where it tells, and by a call of this server's own public address. Sends no message and changes nothing. 400 for what has no account at a messenger, and where the stored settings do not suffice.
   */
  testAgentChannel(input: TestAgentChannelInput, options?: CallOptions): Promise<ChannelTest>;

  /**
   * Updates from Telegram.
   *
   * Telegram calls it with the secret that the channel was registered with, in `X-Telegram-Bot-Api-Secret-Token`. The head of a call is judged before its body is read, which has at most 1 MiB, also once it is decoded where it comes with `Content-Encoding: gzip`. A message is stored before it is acknowledged, and answered later. A message that came before is acknowledged and dropped. 404 when there is no such agent or it does not get its messages here; a message for an inactive agent is acknowledged and dropped. A 503 means that nothing was stored: it comes with `Retry-After: 60` while 5,000 messages to the agent wait to be answered, or as many as are left of the 20,000 of its organization.
   */
  receiveFromTelegram(input: ReceiveFromTelegramInput, options?: CallOptions): Promise<void>;

  /**
   * Events from Slack.
   *
   * Slack calls it with a signature of the body that is not older than 5 minutes. The answer to `url_verification` is its challenge. The head of a call is judged before its body is read, which has at most 1 MiB, also once it is decoded where it comes with `Content-Encoding: gzip`. A message is stored before it is acknowledged, and answered later. A message that came before is acknowledged and dropped. 404 when there is no such agent or it does not get its messages here; a message for an inactive agent is acknowledged and dropped. A 503 means that nothing was stored: it comes with `Retry-After: 60` while 5,000 messages to the agent wait to be answered, or as many as are left of the 20,000 of its organization.
   */
  receiveFromSlack(input: ReceiveFromSlackInput, options?: CallOptions): Promise<Blob>;

  /**
   * WhatsApp messages from Twilio, Auth Token mode.
   *
   * Twilio signs the address that it calls and its parameters, in `X-Twilio-Signature`. The head of a call is judged before its body is read, which has at most 1 MiB, also once it is decoded where it comes with `Content-Encoding: gzip`. A message is stored before it is acknowledged, and answered later. A message that came before is acknowledged and dropped. 404 when there is no such agent or it does not get its messages here; a message for an inactive agent is acknowledged and dropped. A 503 means that nothing was stored: it comes with `Retry-After: 60` while 5,000 messages to the agent wait to be answered, or as many as are left of the 20,000 of its organization.
   */
  receiveFromWhatsApp(input: ReceiveFromWhatsAppInput, options?: CallOptions): Promise<Blob>;

  /**
   * WhatsApp messages from Twilio, API Key mode.
   *
   * The address has the channel's secret, since Twilio signs nothing for API keys. The head of a call is judged before its body is read, which has at most 1 MiB, also once it is decoded where it comes with `Content-Encoding: gzip`. A message is stored before it is acknowledged, and answered later. A message that came before is acknowledged and dropped. 404 when there is no such agent or it does not get its messages here; a message for an inactive agent is acknowledged and dropped. A 503 means that nothing was stored: it comes with `Retry-After: 60` while 5,000 messages to the agent wait to be answered, or as many as are left of the 20,000 of its organization.
   */
  receiveFromWhatsAppBySecret(input: ReceiveFromWhatsAppBySecretInput, options?: CallOptions): Promise<Blob>;

  /**
   * What came and what left over a channel.
   *
   * Messages of people, and the parts of replies and notices to them, the newest first, with what became of each. They are kept for 30 days. Web has none: its replies leave with the call.
   */
  listChannelMessages(input: ListChannelMessagesInput, options?: CallOptions): Promise<ChannelMessagePage>;

  /**
   * Try a failed message again.
   *
   * One that came is answered as if it came now; one that was to leave is sent, with the other parts of its reply that failed. 409 for one that did not fail, and for one of a person who stopped the agent since.
   */
  retryChannelMessage(input: RetryChannelMessageInput, options?: CallOptions): Promise<RetriedMessage>;

  /**
   * Events for an agent's Room.
   *
   * A sender calls it with an event of an event source: any JSON, or a form, of at most 65,536 bytes, and of as many once it is decoded where it comes with `Content-Encoding: gzip`. The address is the credential; where the source has an `authKey`, the call must bring it too. The event is stored before it is answered, and matched by the source's definitions in the background. The answer is 200 whatever comes of it; `ok` is false for a payload that is too large, an unknown token, another content type and a payload that can't be read, checked in this order, the key behind the token. Each call of a known source stands in the ledger, but for those without its key. A 503 means that nothing was stored: send it again. It comes with `Retry-After: 60` while 5,000 events of the agent wait to be matched or for their turns, or as many as are left of the 20,000 of its organization.
   */
  receiveEvent(input: ReceiveEventInput, options?: CallOptions): Promise<EventAnswer>;

  /**
   * The ledger of an agent's events.
   *
   * Each call of a webhook whose token is known, the newest first: what came, what the matcher asked and was answered, what was done, and why not. An agent keeps its newest 100,000 with 1 GiB of payloads, for 30 days, and beyond that what is to be worked on yet.
   */
  listRoomEvents(input: ListRoomEventsInput, options?: CallOptions): Promise<RoomEventPage>;

  /**
   * One event.
   *
   * With what became of it so far.
   */
  getRoomEvent(input: GetRoomEventInput, options?: CallOptions): Promise<RoomEventAnswer>;

  /**
   * Have an event handled again.
   *
   * Makes a new event with the same payload, which is matched by the definitions as they are now, also while the source is off. 409 for an event that could not be read, and for one whose source was deleted; 503 while too many events wait, as for their senders.
   */
  replayRoomEvent(input: ReplayRoomEventInput, options?: CallOptions): Promise<ReplayedEvent>;

  /**
   * The Room of an agent.
   *
   * Where the agent works on its own: what it is to do there, and how much waits for it.
   */
  getRoom(input: GetRoomInput, options?: CallOptions): Promise<Room>;

  /**
   * Set up the Room of an agent, or change it.
   *
   * The first call creates the Room. What is not given stays; at first the Room is on, without a prompt, without an outbound channel, and with an interval of 5 minutes.
   *
   * Within 30 seconds the agent takes a turn for the entries of its backlog, at most 10 in one turn. With a prompt it also takes one of its own, without events, `evalIntervalMinutes` after its last turn in the Room. What it says to people goes over the outbound channel of the definition that an event matched, else over the Room's.
   */
  setRoom(input: SetRoomInput, options?: CallOptions): Promise<RoomSaved>;

  /**
   * Delete the Room of an agent.
   *
   * What waits in the backlog is discarded, and `backlog` definitions find no Room. The conversation, event sources and the ledger stay. Without a Room nothing happens.
   */
  deleteRoom(input: DeleteRoomInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Have the agent take a turn in its Room now.
   *
   * Also without events, and for entries that are to wait a while. While a call in the Room's conversation waits for a person's decision, the Room waits too. 409 while the Room is off or missing, or the agent inactive.
   */
  runRoom(input: RunRoomInput, options?: CallOptions): Promise<RoomQueued>;

  /**
   * The events that an agent handles in its Room.
   *
   * The newest first, with what became of each. At most 100 wait at a time: what comes then is only in the ledger, as `backlog-full`. Entries that are over are kept for 30 days.
   */
  listBacklog(input: ListBacklogInput, options?: CallOptions): Promise<BacklogPage>;

  /**
   * Discard an entry, or have it handled again.
   *
   * An entry that is `pending` or `failed` can be discarded. One that is `failed` or `discarded` can be handled again, with 3 new attempts. 409 for others, and where 100 wait already.
   */
  changeBacklogEntry(input: ChangeBacklogEntryInput, options?: CallOptions): Promise<BacklogEntryAnswer>;

  /**
   * The event sources of an agent.
   *
   * By age, each with its definitions. `webhookToken` and `webhookUrl` are there only for callers with `agent.room:write`.
   */
  listEventSources(input: ListEventSourcesInput, options?: CallOptions): Promise<Array<EventSource>>;

  /**
   * Let another system send events.
   *
   * Makes an address to which a system posts events, up to 50 for an agent. What becomes of them is told by the source's definitions: without one every event is dropped.
   */
  createEventSource(input: CreateEventSourceInput, options?: CallOptions): Promise<EventSourceAddress>;

  /**
   * Change an event source.
   *
   * What is not given stays; `config` is replaced as a whole, and `authKey: null` takes the key away.
   */
  updateEventSource(input: UpdateEventSourceInput, options?: CallOptions): Promise<EventSource>;

  /**
   * Delete an event source.
   *
   * With its definitions. Its address is unknown at once; its events stay in the ledger.
   */
  deleteEventSource(input: DeleteEventSourceInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Give an event source another address.
   *
   * The former address is unknown at once. A key that the source has stays.
   */
  rotateEventSourceToken(input: RotateEventSourceTokenInput, options?: CallOptions): Promise<EventSourceAddress>;

  /**
   * The definitions of an event source.
   *
   * In the order in which the matcher asks.
   */
  listEventDefinitions(input: ListEventDefinitionsInput, options?: CallOptions): Promise<Array<EventDefinition>>;

  /**
   * Say which events an agent handles, and how.
   *
   * For each event the agent's fast model, or else its own, is asked one definition after the other until one matches: whether the event is one that `matchingPrompt` is about. `conditions` are looked at before, and cost no tokens. A source has up to 50 definitions.
   *
   * Payloads are what other systems sent: they reach a model as data between random marks, and are no instructions.
   *
   * The result goes to `outboundChannel` and `outboundTarget`, else to those of the Room.
   */
  createEventDefinition(input: CreateEventDefinitionInput, options?: CallOptions): Promise<EventDefinition>;

  /**
   * Change a definition.
   *
   * What is not given stays; `conditions` are replaced as a whole.
   */
  updateEventDefinition(input: UpdateEventDefinitionInput, options?: CallOptions): Promise<EventDefinition>;

  /**
   * Delete a definition.
   *
   * Events that it put into the backlog stay there.
   */
  deleteEventDefinition(input: DeleteEventDefinitionInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Say what an event would lead to.
   *
   * Asks the source's definitions about a payload as the matcher would, also while the source is off: the model is really asked, on the agent's budget. Nothing is stored, and nothing done.
   */
  dryRunEventSource(input: DryRunEventSourceInput, options?: CallOptions): Promise<DryRun>;

  /**
   * Whether due work of Rooms and tasks is looked for.
   *
   * Needs no authentication. Slots and the last tick are those of the process that answers; the counts are of the whole installation and up to 5 seconds old.
   */
  getSchedulerHealth(input?: Record<string, never>, options?: CallOptions): Promise<SchedulerHealth>;

  /**
   * Tasks of an agent.
   *
   * The oldest first: those that people made, and those that the agent made by its tool `scheduleTask`, with the end user for whom it did. Those of an end user end when the person stops the agent, when the conversation that stands for the person is deleted and, for people who needed no key, when `authEnabled` is turned on.
   */
  listScheduledTasks(input: ListScheduledTasksInput, options?: CallOptions): Promise<ScheduledTaskPage>;

  /**
   * Have an agent do something at set times.
   *
   * Each run is a turn in a conversation of its own, `<slug>:scheduled:<taskId>:<ms>`, that begins with the task's prompt. What the agent says in the end goes to the outbound place, if there is one. An agent has at most 100 tasks, of which it makes at most 80 itself; of those that it made for one time, the oldest whose time has passed makes room for a new one.
   *
   * `cron` names local times of a time zone in five fields. Fixed times run once a day also where clocks change: one that is skipped runs right after the gap, one that comes twice runs the first time. Times that repeat (`*`, steps) run when the clock shows them. `interval` counts from the creation, and knows no clocks. `one-shot` runs once.
   *
   * Times that pass while no server runs, or while the agent is inactive, are recorded as `missed`; `onMissed` says whether the last one is run late. A time at which an earlier run of the task has not ended is `skipped`. So is a run of a task that the agent made when somebody in a private chat asked for it, once that person is not in the channel's `allowedUserIds` any more.
   */
  createScheduledTask(input: CreateScheduledTaskInput, options?: CallOptions): Promise<ScheduledTask>;

  /**
   * One task.
   *
   * What the agent does, when it is due next, and how the newest run ended.
   */
  getScheduledTask(input: GetScheduledTaskInput, options?: CallOptions): Promise<ScheduledTask>;

  /**
   * Change a task.
   *
   * What is not given stays; `schedule` is replaced as a whole. Another schedule counts from now on, and so does a task that is enabled again: no time before is missed.
   */
  updateScheduledTask(input: UpdateScheduledTaskInput, options?: CallOptions): Promise<ScheduledTask>;

  /**
   * Delete a task.
   *
   * Its runs go with it. Their conversations stay, and a run that has begun goes on to its end.
   */
  deleteScheduledTask(input: DeleteScheduledTaskInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Run a task now.
   *
   * Also one that is not enabled; its schedule stays as it is. 409 while a run of it has not ended, and while the agent is inactive.
   */
  runScheduledTask(input: RunScheduledTaskInput, options?: CallOptions): Promise<BegunRun>;

  /**
   * Runs of a task.
   *
   * The newest first, with those that were missed or skipped. They are kept for 90 days, and each task's last one as long as the task.
   */
  listTaskRuns(input: ListTaskRunsInput, options?: CallOptions): Promise<TaskRunPage>;

  /**
   * The installation's policies.
   *
   * All of them, with the values in force. The permission must be held in the first organization, which a request without `X-Organization` addresses. With the feature `administration` only signed-in people may call it.
   */
  getPolicies(input?: Record<string, never>, options?: CallOptions): Promise<PoliciesAnswer>;

  /**
   * Change policies.
   *
   * What is left out stays as it is, also inside `rateLimit`, `activityConnections` and `fileMegabytes`; null puts those back that may be null. In force on every replica within 30 seconds. The permission must be held in the first organization. With the feature `administration` only signed-in people may call it.
   */
  updatePolicies(input: UpdatePoliciesInput, options?: CallOptions): Promise<PoliciesAnswer>;

  /**
   * The provider connections of an organization.
   *
   * With a hint of each key, and the roles that agents bind it to.
   */
  listSharedConnections(input: ListSharedConnectionsInput, options?: CallOptions): Promise<ProviderConnections>;

  /**
   * Connect an organization to a provider.
   *
   * All its agents may bind it, where their workspace admits the provider. At most 50 in a scope; the next one is 409. The key is stored sealed.
   */
  createSharedConnection(input: CreateSharedConnectionInput, options?: CallOptions): Promise<ProviderConnectionAnswer>;

  /**
   * Change a provider connection of an organization.
   *
   * Fields that are left out stay as they are, in force with the next turn. Another origin in `baseUrl` deletes the stored key, unless the same request brings one.
   */
  updateSharedConnection(input: UpdateSharedConnectionInput, options?: CallOptions): Promise<ProviderConnectionAnswer>;

  /**
   * Delete a provider connection of an organization.
   *
   * 409 while an agent binds it to a role, as the first model or as a fallback.
   */
  deleteSharedConnection(input: DeleteSharedConnectionInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Test a provider connection of an organization.
   *
   * Requests the provider's list of models, which costs nothing. An address without an answer over HTTP is told after 5 seconds, whatever the cause.
   */
  testSharedConnection(input: TestSharedConnectionInput, options?: CallOptions): Promise<ProviderConnectionTest>;

  /**
   * The private provider connections of an agent.
   *
   * With a hint of each key, and the roles that agents bind it to.
   */
  listPrivateConnections(input: ListPrivateConnectionsInput, options?: CallOptions): Promise<ProviderConnections>;

  /**
   * Connect one agent to a provider.
   *
   * No other agent may bind it. At most 50 in a scope; the next one is 409. The key is stored sealed.
   */
  createPrivateConnection(
    input: CreatePrivateConnectionInput,
    options?: CallOptions,
  ): Promise<ProviderConnectionAnswer>;

  /**
   * Change a private provider connection.
   *
   * Fields that are left out stay as they are, in force with the next turn. Another origin in `baseUrl` deletes the stored key, unless the same request brings one.
   */
  updatePrivateConnection(
    input: UpdatePrivateConnectionInput,
    options?: CallOptions,
  ): Promise<ProviderConnectionAnswer>;

  /**
   * Delete a private provider connection.
   *
   * 409 while an agent binds it to a role, as the first model or as a fallback.
   */
  deletePrivateConnection(input: DeletePrivateConnectionInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Test a private provider connection.
   *
   * Requests the provider's list of models, which costs nothing. An address without an answer over HTTP is told after 5 seconds, whatever the cause.
   */
  testPrivateConnection(input: TestPrivateConnectionInput, options?: CallOptions): Promise<ProviderConnectionTest>;

  /**
   * The providers that a workspace admits.
   *
   * Everything, until it is limited.
   */
  getWorkspaceProviders(input: GetWorkspaceProvidersInput, options?: CallOptions): Promise<WorkspaceProviders>;

  /**
   * Limit a workspace to providers and models.
   *
   * Replaces what was admitted, in force with the next turns of its agents. Holds for connections and for the environment's keys. An agent whose bound connection is no longer admitted answers 503: nothing takes its place.
   */
  setWorkspaceProviders(input: SetWorkspaceProvidersInput, options?: CallOptions): Promise<WorkspaceProviders>;

  /**
   * The providers that an agent may use.
   *
   * Those that its workspace admits, with the shared and the agent's private connections.
   */
  listAgentProviders(input: ListAgentProvidersInput, options?: CallOptions): Promise<AgentProviders>;

  /**
   * Which models answer for an agent.
   *
   * One entry for each purpose: `chat` for replies, `fast` for background work, `embedding` for searches by meaning, `transcription` and `speech` for calls. Each says where its model comes from, whether it is usable, and what could be bound.
   */
  listProviderRoles(input: ListProviderRolesInput, options?: CallOptions): Promise<ProviderRoles>;

  /**
   * Bind a role of an agent to a connection.
   *
   * Replaces what was bound, in force with the next turn. Only options of the role are accepted. A bound connection that becomes unusable is never replaced by one that is not named here: calls are then 503 `The agent's provider connection is not usable`.
   */
  bindProviderRole(input: BindProviderRoleInput, options?: CallOptions): Promise<ProviderRoleAnswer>;

  /**
   * Read the prices of models.
   *
   * The organization's own prices, and the list prices that hold for models without one.
   */
  getModelPrices(input: GetModelPricesInput, options?: CallOptions): Promise<ModelPrices>;

  /**
   * Set the prices of models.
   *
   * Replaces all own prices; with none, the list prices hold. In force with the next turn; turns that ended keep their costs.
   */
  setModelPrices(input: SetModelPricesInput, options?: CallOptions): Promise<ModelPrices>;

  /**
   * The mail relay.
   *
   * The SMTP server that sends invitations and links to reset a password; null when there is none: then no mail is sent.
   */
  getMailRelay(input?: Record<string, never>, options?: CallOptions): Promise<MailRelayAnswer>;

  /**
   * Set the mail relay.
   *
   * Replaces all fields; a password stays that is not given. It is stored sealed and shown as a mask, and another host, port or user name needs it again. The relay is the operator's own: it may be in a private network.
   */
  setMailRelay(input: SetMailRelayInput, options?: CallOptions): Promise<MailRelayAnswer>;

  /**
   * Delete the mail relay.
   *
   * No mail is sent from then on; mails that wait are dropped.
   */
  deleteMailRelay(input?: Record<string, never>, options?: CallOptions): Promise<Deleted>;

  /**
   * Send a test mail.
   *
   * Sends a mail through the stored relay at once, and tells within 30 seconds whether the relay accepted it.
   */
  testMailRelay(input: TestMailRelayInput, options?: CallOptions): Promise<TestMailResult>;

  /**
   * Whether the installation is in order.
   *
   * What `agent-engine doctor` examines, as far as a running server can: settings, data directory, database, encryption key, stored settings, background work, messages, channels, files, the scheduler, plugins, providers and the public address. It asks each provider of the environment for its models, and the public address for its health, for at most 5 seconds. Callers at the same time share one examination. The permission must be held in the first organization, which a request without `X-Organization` addresses. With the feature `administration` only signed-in people may call it.
   */
  getInstallationHealth(input?: Record<string, never>, options?: CallOptions): Promise<InstallationHealth>;

  /**
   * Who did what.
   *
   * Of the addressed organization, newest first. What changed nothing is no entry; what a known caller was refused with 403 is one (`access.refuse`), of each caller at most 20 in ten minutes. Owners of the first organization also see there what belongs to none, such as failed sign-ins of unknown accounts. How long entries are kept is the policy `retentionDays`. The log and its numbers are read by two callers at a time, on each replica; when eight more wait, the next gets 429.
   */
  listAuditLogs(input?: ListAuditLogsInput, options?: CallOptions): Promise<AuditPage>;

  /**
   * The audit log in numbers.
   *
   * Counts over a period of at most 366 days; the last 30 days in UTC, with today, unless given. Of the same entries as the log itself, and with the same 429.
   */
  getAuditStats(input?: GetAuditStatsInput, options?: CallOptions): Promise<AuditStats>;

  /**
   * What agents did.
   *
   * Turns, conversations, users, tokens, channels, models, tools and latencies of all agents that the caller reaches. The period is at most 366 days; without `from` and `to` it is the last 30 days in UTC, with today. Turns count when they began, and are there as soon as they do; their tokens and times once they ended. Calls of the background, such as memories and titles, are no turns. The numbers are read by two callers at a time, on each replica; when eight more wait, the next gets 429.
   */
  getAnalytics(input?: GetAnalyticsInput, options?: CallOptions): Promise<Analytics>;

  /**
   * What an agent did.
   *
   * The same numbers of one agent. The period is at most 366 days; without `from` and `to` it is the last 30 days in UTC, with today. Turns count when they began, and are there as soon as they do; their tokens and times once they ended. Calls of the background, such as memories and titles, are no turns. The numbers are read by two callers at a time, on each replica; when eight more wait, the next gets 429.
   */
  getInstanceAnalytics(input: GetInstanceAnalyticsInput, options?: CallOptions): Promise<Analytics>;

  /**
   * What runs, and what failed lately.
   *
   * The turns that run or wait at this moment, and what failed in the last 24 hours, of all agents that the caller reaches. It is read by two callers at a time, on each replica; when eight more wait, the next gets 429.
   */
  getAnalyticsNow(input?: Record<string, never>, options?: CallOptions): Promise<AnalyticsNow>;

  /**
   * What is left of the budgets.
   *
   * This month's budgets of the agents that the caller reaches and of their end users, and what is used of them. They are read by two callers at a time, on each replica; when eight more wait, the next gets 429.
   */
  getBudgets(input?: Record<string, never>, options?: CallOptions): Promise<Budgets>;

  /**
   * What it cost.
   *
   * The tokens and costs of turns by agent, by end user, by model or by day. An end user of several agents is one, by name. The period is at most 366 days; without `from` and `to` it is the last 30 days in UTC, with today. Turns count when they began, and are there as soon as they do; their tokens and times once they ended. Calls of the background, such as memories and titles, are no turns. The numbers are read by two callers at a time, on each replica; when eight more wait, the next gets 429.
   */
  getUsage(input: GetUsageInput, options?: CallOptions): Promise<UsagePage>;

  /**
   * Every tool that agents can have.
   *
   * The engine's own, those of the server's plugins and of the organization's MCP servers, and the active agents, which others of their workspace can ask.
   */
  listTools(input?: Record<string, never>, options?: CallOptions): Promise<ToolCatalogue>;

  /**
   * Which tools an agent has.
   *
   * All that it can have, on or off.
   */
  listAgentTools(input: ListAgentToolsInput, options?: CallOptions): Promise<AgentTools>;

  /**
   * Choose an agent's tools.
   *
   * `enabled` is the complete set. Takes effect with the next turn.
   */
  putAgentTools(input: PutAgentToolsInput, options?: CallOptions): Promise<AgentTools>;

  /**
   * Which secrets an agent's tools need.
   *
   * Of the enabled tools, each secret once, and whether the agent has it. Values are never answered.
   */
  listRequiredSecrets(input: ListRequiredSecretsInput, options?: CallOptions): Promise<RequiredSecrets>;

  /**
   * List plugins.
   *
   * The MCP servers whose tools the organization's agents can have.
   */
  listPlugins(input: ListPluginsInput, options?: CallOptions): Promise<Plugins>;

  /**
   * Read a plugin.
   *
   * With the tools that its server listed last.
   */
  getPlugin(input: GetPluginInput, options?: CallOptions): Promise<PluginAnswer>;

  /**
   * Add or change a plugin.
   *
   * Connects to the MCP server and lists its tools, which takes up to 15 seconds; they are then called `<namespace>:<tool>`. A server that can't be reached is stored all the same: see `status` and `lastError`.
   */
  putPlugin(input: PutPluginInput, options?: CallOptions): Promise<PluginAnswer>;

  /**
   * Delete a plugin.
   *
   * Agents lose its tools with their next turn.
   */
  deletePlugin(input: DeletePluginInput, options?: CallOptions): Promise<Deleted>;

  /**
   * List a plugin's tools again.
   *
   * Connects anew, and takes up to 15 seconds. Tools that are known stay when the server can't be reached.
   */
  refreshPlugin(input: RefreshPluginInput, options?: CallOptions): Promise<PluginAnswer>;

  /**
   * List plugin packages.
   *
   * The plugins that the operator has installed, and whether the organization's agents can use them.
   */
  listPluginPackages(input: ListPluginPackagesInput, options?: CallOptions): Promise<PluginPackages>;

  /**
   * Turn a plugin package on or off.
   *
   * Off, its tools are missing from catalogues, from agents' tools and from turns of the organization, beginning with the next one; the settings of its agents stay for when it is on again.
   */
  putPluginPackage(input: PutPluginPackageInput, options?: CallOptions): Promise<PluginPackageAnswer>;

  /**
   * The hooks of an agent.
   *
   * In the order in which those of one event run.
   */
  listHooks(input: ListHooksInput, options?: CallOptions): Promise<HookList>;

  /**
   * Have a tool called around every reply.
   *
   * Holds from the next turn on. What hooks answer that run before the model is told to the model. A hook that fails or takes too long is noted, and the turn goes on. Hooks do not run where an agent is asked by another one, nor in scheduled tasks and the Room.
   *
   * The texts of `args` may name `{{instance.slug}}`, `{{conversation.id}}`, `{{channel.type}}`, `{{channel.id}}`, `{{user.name}}`, `{{message.text}}`, `{{response.text}}` and `{{state.KEY}}`; `{{skill_env.…}}` is filled in by tools that may have it. Arguments are shown to everybody who may read hooks: a credential belongs into a skill's variables.
   *
   * With `mutates` on `response_generated` the reply is held back until the hook has answered: a text, what a script returned, or the body of a request that went well takes its place. Such a turn runs to its end whoever listens.
   */
  createHook(input: CreateHookInput, options?: CallOptions): Promise<HookAnswer>;

  /**
   * Change a hook.
   *
   * What is not given stays; `actionConfig` is replaced as a whole.
   */
  updateHook(input: UpdateHookInput, options?: CallOptions): Promise<HookAnswer>;

  /**
   * Delete a hook.
   *
   * What became of its calls stays with the conversations.
   */
  deleteHook(input: DeleteHookInput, options?: CallOptions): Promise<Deleted>;

  /**
   * What agents remember.
   *
   * Of one agent, or of all within reach; what was learned or changed last comes first.
   */
  listMemories(input?: ListMemoriesInput, options?: CallOptions): Promise<MemoryPage>;

  /**
   * Remember a fact.
   *
   * One that says the same as a memory of the same subject, or nearly so, takes its place. An agent keeps 10,000 memories of a subject: beyond, the least important go, the oldest of them first.
   */
  createMemory(input: CreateMemoryInput, options?: CallOptions): Promise<SavedMemory>;

  /**
   * Forget everything.
   *
   * All memories within reach: with `instanceId` that agent's only, with `subject` only those about one end user, of the channel `subjectChannel`. There is no way back.
   */
  deleteMemories(input?: DeleteMemoriesInput, options?: CallOptions): Promise<DeletedMemories>;

  /**
   * Forget one memory.
   *
   * There is no way back.
   */
  deleteMemory(input: DeleteMemoryInput, options?: CallOptions): Promise<Deleted>;

  /**
   * Read a file of a conversation.
   *
   * An attachment that came in with a message, as it was sent. PNG, JPEG, GIF and WebP may be shown in place; everything else is to be saved. `If-None-Match` is answered with 304.
   */
  getFile(input: GetFileInput, options?: CallOptions): Promise<Blob>;

  /**
   * Read a file by its link.
   *
   * A file of a conversation for whoever has the link to it, which a tool such as `files:upload` made. It takes no other credentials, expires after 24 hours, and ends when the conversation is deleted. A file in S3 is answered with its address there, which is valid for 5 minutes. `If-None-Match` is answered with 304.
   */
  getLinkedFile(input: GetLinkedFileInput, options?: CallOptions): Promise<Blob>;

  /**
   * Conversations.
   *
   * Of one agent, or of all within reach; those whose last message is newest come first. `from` and `to` are about the last message. One without messages is not listed.
   */
  listConversations(input?: ListConversationsInput, options?: CallOptions): Promise<ConversationPage>;

  /**
   * A conversation.
   *
   * What it is about, with whom, and how much was said; the messages are under `/messages`.
   */
  getConversation(input: GetConversationInput, options?: CallOptions): Promise<OneConversation>;

  /**
   * Rename a conversation.
   *
   * Its place in the list stays. In the managed edition an Owner sets its `legalHold` too, which exempts it from deletion.
   */
  renameConversation(input: RenameConversationInput, options?: CallOptions): Promise<OneConversation>;

  /**
   * Delete a conversation.
   *
   * With its messages, its state, its files and the `output` of a task's run; a turn of it that is under way is stopped. What agents remember of it stays. There is no way back. One under legal hold stays: 409.
   */
  deleteConversation(input: DeleteConversationInput, options?: CallOptions): Promise<Deleted>;

  /**
   * What was said.
   *
   * The messages of a conversation, those of the agent with the steps that led to them. A page ends early where its messages have over 8 MiB together, and its `limit` says so: the next one begins at `offset` and `limit` together.
   */
  listMessages(input: ListMessagesInput, options?: CallOptions): Promise<MessagePage>;

  /**
   * The state of a conversation.
   *
   * What call context, hooks and tools put into it; `_private` is left out.
   */
  getConversationState(input: GetConversationStateInput, options?: CallOptions): Promise<ConversationState>;

  /**
   * What hooks did in a conversation.
   *
   * In order; the newest ones, unless `offset` asks for older ones. Fewer than `limit` where they have over 8 MiB together. Arguments and results of more than 64 KiB are stored shortened, with `…` where something is missing.
   */
  listHookExecutions(input: ListHookExecutionsInput, options?: CallOptions): Promise<HookExecutions>;

  /**
   * The turns of a conversation.
   *
   * The newest first, also those that failed before they said anything and so left no message.
   */
  listTurns(input: ListTurnsInput, options?: CallOptions): Promise<TurnPage>;

  /**
   * Why the agent answered so.
   *
   * One turn with all that is stored of it: messages, tool calls, hooks, tokens and times. While the agent's `debugEnabled` is on, `debug` has how it came to its reply: the prompt as the model got it, the memories and the state in it, the tools on offer, and each step with its retries and what the provider said. A turn's id is the id of the agent's message.
   */
  getTurn(input: GetTurnInput, options?: CallOptions): Promise<OneTurn>;

  /**
   * What happens at this moment.
   *
   * Server-sent events of all agents within reach: the last ones first, of at most 100 that the server keeps for all, then what happens. A client that reads slowly loses the oldest of more than 200 unread events, and a comment says so. The stream ends within 5 seconds when the caller's rights end or change. It does not count for the policy `rateLimit`. More streams of this process, or of one caller, than the policy `activityConnections` allows are 503 with `Retry-After: 60`.
   */
  streamActivity(input?: StreamActivityInput, options?: CallOptions): AsyncGenerator<LiveEvent, void, undefined>;

  /**
   * What happens, and what is stored of it.
   *
   * The live stream of all agents within reach. Besides, `persisted` tells of each message and hook execution that was stored, with its conversation: one stream for a client that shows several conversations. It does not count for the policy `rateLimit`. More streams of this process, or of one caller, than the policy `activityConnections` allows are 503 with `Retry-After: 60`.
   */
  streamConversations(
    input?: StreamConversationsInput,
    options?: CallOptions,
  ): AsyncGenerator<LiveEvent | PersistedEvent, void, undefined>;

  /**
   * What happens in a conversation.
   *
   * The live stream of one conversation. Besides, a named event `persisted` tells of each message and hook execution that was stored, so that a client can read the transcript again. It does not count for the policy `rateLimit`. More streams of this process, or of one caller, than the policy `activityConnections` allows are 503 with `Retry-After: 60`.
   */
  streamConversationActivity(
    input: StreamConversationActivityInput,
    options?: CallOptions,
  ): AsyncGenerator<LiveEvent | PersistedEvent, void, undefined>;

  /**
   * Read the retention policies.
   *
   * Of each subject one, whether it is on or not.
   */
  getRetention(input: GetRetentionInput, options?: CallOptions): Promise<RetentionPolicies>;

  /**
   * Set the retention policies.
   *
   * Replaces all of them: a subject that is not named is turned off. A policy deletes once a day, first 24 hours after it was turned on or got fewer days. Open work and conversations under legal hold stay.
   */
  setRetention(input: SetRetentionInput, options?: CallOptions): Promise<RetentionPolicies>;

  /**
   * Count the rows that retention would delete.
   *
   * Deletes nothing. Counts what the given policies would delete now, else what the stored ones would; those that are off count too.
   */
  previewRetention(input: PreviewRetentionInput, options?: CallOptions): Promise<RetentionPreview>;

  /**
   * Erase a person.
   *
   * Deletes in the background what agents know of an end user: conversations with their files, messages in groups, memories, tasks, opt-outs, messages to send, and the name in sums and in the audit log. The audit log tells its end. A conversation of the person under legal hold is a 409. There is no way back.
   */
  createErasure(input: CreateErasureInput, options?: CallOptions): Promise<ErasureAnswer>;

  /**
   * List the calls that wait.
   *
   * The calls that wait for a person's decision, of every agent within reach. What was decided, refused by the end user's next message or expired is not among them.
   */
  listApprovals(input?: ListApprovalsInput, options?: CallOptions): Promise<ApprovalPage>;

  /**
   * Approve or refuse a call that waits.
   *
   * A turn stops at the call of a tool that needs approval and goes on when all its calls are decided, also after a restart; the model hears of a refusal. After 24 hours, or with the end user's next message, there is nothing to decide any more: 409. After 24 hours the turn goes on with what was decided, if anything was. While the agent is inactive, 409 but for the playground.
   */
  decideApproval(input: DecideApprovalInput, options?: CallOptions): Promise<ApprovalStatus>;

  /**
   * Talk to an agent from the panel.
   *
   * The events of the native stream, for a signed-in person: without the agent's key, also while its Web channel is off or the agent is inactive; with `model` another model answers than the agent's. Its conversations are `<slug>:playground:<chat_id>`; `user` counts for those who may write memories. The `error` of a failed model call names its cause, such as a refused key or an unknown model; the other doors keep it to themselves. In an overload it is refused with 503 and `Retry-After`, as the other doors are.
   */
  streamPlayground(input: StreamPlaygroundInput, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;

  /**
   * Go on with a playground stream.
   *
   * What came after `Last-Event-ID`, then what happens. Until 60 seconds after the end of the turn.
   */
  resumePlayground(input: ResumePlaygroundInput, options?: CallOptions): AsyncGenerator<ChatEvent, void, undefined>;

  /**
   * Stop a playground turn.
   *
   * What it has produced is stored. `stopped` is false when the turn was over already.
   */
  stopPlayground(input: StopPlaygroundInput, options?: CallOptions): Promise<Stopped>;
}
