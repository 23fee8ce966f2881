import {
  accountElsewhere,
  anotherSession,
  backlogEntry,
  bundle,
  conversation,
  followed,
  hook,
  inWorkspace,
  json,
  knownPassword,
  memory,
  newAdmission,
  newBinding,
  newConnection,
  newHook,
  newPersonalToken,
  newPolicy,
  newPrices,
  newRelay,
  newRetention,
  newRole,
  newSecret,
  newSource,
  newTask,
  outdatedSkill,
  outOfWorkspace,
  ownAgent,
  ownMember,
  ownOrganization,
  ownRole,
  ownSession,
  ownToken,
  type Prepare,
  packageOn,
  playedTurn,
  plugin,
  pluginSettings,
  privateConnection,
  receivedInvitation,
  room,
  roomEvent,
  secondOrganization,
  sentInvitation,
  sharedConnection,
  signedInMember,
  skill,
  skillWithEnv,
  source,
  storedBot,
  storedFile,
  storedRelay,
  storedSecret,
  task,
  testMail,
  toolsOff,
  unallowedSkill,
  unsentMessage,
  userElsewhere,
  waitingCall,
  webOn,
  withIcon,
  withoutIcon,
} from "./requests.ts";
import { fresh } from "./world.ts";

/** The owner of a route's objects; for `agent` and `organization` the path names it where it can. */
type Scope = "agent" | "organization" | "installation" | "self";

export interface Entry {
  scope: Scope;
  /** Of a successful request. */
  status: 200 | 201;
  /**
   * How the managed edition treats it differently. `sessions`: it refuses management keys. `keys of others`: it refuses
   * these to a management key, while the open edition refuses management keys. `fields`: its body takes more fields.
   */
  differs?: "sessions" | "keys of others" | "fields";
  /** It refuses personal tokens that work across organizations. Routes for sessions alone refuse them anyway. */
  oneOrganization?: true;
  /** A write without an entry in the audit log. */
  unaudited?: true;
  /** A read with an entry in the audit log. */
  audited?: true;
  /** Parameters that name no tenant's object, so that another organization's can't be looked for. */
  names?: readonly string[];
  /** Fields of the body that name a tenant's object. */
  things?: readonly string[];
  /** Parameters that name objects shared by all workspaces of an organization. */
  shared?: readonly string[];
  /** Columns that are refused in its body with 400 (decisions §3). */
  refuses?: readonly string[];
  /** The field of the body whose object takes no unknown fields. */
  closed?: string;
  /** Its body has fields with names chosen by the caller. */
  freeForm?: true;
  /** What it may change, as `table` (all but what identifies its rows) or `table.column`. */
  owns?: readonly string[];
  /** Makes the objects it needs besides the agent and the organization of its path; anew for each request. */
  prepare?: Prepare;
}

type More = Omit<Entry, "scope" | "status" | "prepare">;

const entry =
  (status: 200 | 201) =>
  (scope: Scope, prepare?: Prepare, more: More = {}): Entry => ({
    ...more,
    scope,
    status,
    ...(prepare ? { prepare } : {}),
  });
const ok = entry(200);
const created = entry(201);

const agents = "/api/instances";
const agent = `${agents}/{slug}`;
const oneTask = `${agent}/scheduled-tasks/{id}`;
const agentSkill = `${agent}/skills/{skillSlug}`;
const eventSource = `${agent}/event-sources/{id}`;
const organizations = "/api/organizations";
const organization = `${organizations}/{orgSlug}`;
const onePlugin = `${organization}/plugins/{namespace}`;
const oneConversation = "/api/conversations/{conversationId}";
const member = `${organization}/members/{userId}`;
const users = "/api/users";
const mailRelay = "/api/installation/mail-relay";
const workspace = `${organization}/workspaces/{workspaceId}`;
const retention = `${organization}/retention`;
const modelPrices = `${organization}/model-prices`;

const skillText = { description: "What it is for", content: "How it is done" };
const turnTables = ["turns", "conversations", "messages", "hook_executions"];
const pins: More = { owns: ["agent_skills", "agent_tools"] };
const password = [
  ...["users.password_hash", "users.password_set_by", "users.password_organization", "users.updated_at"],
  "access_tokens",
];
const shared: More = { shared: ["skillSlug"] };

const connections: More = { owns: ["provider_connections"] };
const connectionRoutes = (
  path: string,
  scope: Scope,
  stored: (body?: Record<string, unknown>) => Prepare,
): Record<string, Entry> => ({
  [`GET ${path}`]: ok(scope, stored()),
  [`POST ${path}`]: created(scope, newConnection, connections),
  [`PATCH ${path}/{id}`]: ok(scope, stored({ enabled: false }), connections),
  [`DELETE ${path}/{id}`]: ok(scope, stored(), connections),
  [`POST ${path}/{id}/test`]: ok(scope, stored()),
});

/** A valid request for every guarded route. By default the path with the home's agent and organization. */
export const routes: Record<string, Entry> = {
  "GET /v1/models": ok("organization"),
  "GET /v1/models/{id}": ok("agent", async (_world, { agentSlug }) => ({ params: { id: agentSlug } })),

  [`GET ${agents}`]: ok("organization"),
  [`POST ${agents}`]: created(
    "organization",
    async (_world, { workspaceId }) => ({ json: { slug: fresh("agent"), workspaceId } }),
    { things: ["workspaceId"], owns: ["agents", "agent_tools"] },
  ),
  [`GET ${agents}/models`]: ok("organization"),
  [`GET ${agent}`]: ok("agent"),
  [`PATCH ${agent}`]: ok("agent", async (_world, { workspaceId }) => ({ json: { name: fresh("New"), workspaceId } }), {
    things: ["workspaceId"],
    owns: ["agents", "agents.workspace_id"],
  }),
  [`DELETE ${agent}`]: ok("agent", ownAgent, { owns: ["agents"] }),
  [`POST ${agents}/import`]: created("organization", bundle, { owns: ["agents", "agent_tools", "channels"] }),
  [`POST ${agent}/import`]: created("agent", bundle, {
    owns: ["agents", "agent_tools", "agent_icons", "channels", "hooks", "event_sources", "scheduled_tasks"],
  }),
  [`GET ${agent}/export`]: ok("agent", undefined, { audited: true }),
  [`GET ${agent}/icon`]: ok("agent", withIcon),
  [`PUT ${agent}/icon`]: ok("agent", withoutIcon, { owns: ["agent_icons"] }),
  [`DELETE ${agent}/icon`]: ok("agent", withIcon, { owns: ["agent_icons"] }),
  [`GET ${agent}/prompts`]: ok("agent"),
  [`PATCH ${agent}/prompts`]: ok(
    "agent",
    async () => ({ json: { sections: [{ key: "02-soul", content: fresh("Be brief.") }] } }),
    { owns: ["agent_prompts"] },
  ),
  [`POST ${agent}/prompts/preview`]: ok("agent", async () => ({ json: {} }), { unaudited: true }),
  [`GET ${agent}/hooks`]: ok("agent", hook()),
  [`POST ${agent}/hooks`]: created("agent", newHook, { owns: ["hooks"] }),
  [`PATCH ${agent}/hooks/{id}`]: ok("agent", hook({ enabled: false }), { owns: ["hooks"] }),
  [`DELETE ${agent}/hooks/{id}`]: ok("agent", hook(), { owns: ["hooks"] }),
  [`GET ${agent}/scheduled-tasks`]: ok("agent", task()),
  [`POST ${agent}/scheduled-tasks`]: created("agent", newTask, { owns: ["scheduled_tasks", "jobs"] }),
  [`GET ${oneTask}`]: ok("agent", task()),
  [`PATCH ${oneTask}`]: ok("agent", task({ name: "Evening report" }), { owns: ["scheduled_tasks", "jobs"] }),
  [`DELETE ${oneTask}`]: ok("agent", task(), { owns: ["scheduled_tasks"] }),
  [`POST ${oneTask}/run`]: created("agent", task(), { owns: ["task_runs", "jobs", ...turnTables] }),
  [`GET ${oneTask}/runs`]: ok("agent", task()),
  [`GET ${agent}/secrets`]: ok("agent"),
  [`PUT ${agent}/secrets`]: ok("agent", newSecret, {
    owns: ["secrets", "agents.auth_key_hmac"],
  }),
  [`DELETE ${agent}/secrets/{key}`]: ok("agent", storedSecret, {
    names: ["key"],
    owns: ["secrets", "agents.auth_key_hmac"],
  }),
  ...connectionRoutes(`${organization}/provider-connections`, "organization", sharedConnection),
  ...connectionRoutes(`${agent}/provider-connections`, "agent", privateConnection),
  [`GET ${workspace}/providers`]: ok("organization", async (_world, { workspaceId }) => ({ params: { workspaceId } })),
  [`PUT ${workspace}/providers`]: ok("organization", newAdmission, { owns: ["workspace_providers"] }),
  [`GET ${agent}/providers`]: ok("agent"),
  [`GET ${agent}/provider-roles`]: ok("agent"),
  [`PUT ${agent}/provider-roles/{role}`]: ok("agent", newBinding, {
    names: ["role"],
    things: ["connectionId"],
    owns: ["provider_bindings"],
  }),
  [`GET ${agent}/channels`]: ok("agent"),
  [`PUT ${agent}/channels/{type}`]: ok(
    "agent",
    async () => ({
      params: { type: "web" },
      json: {
        enabled: true,
        config: { requireAuthentication: false, allowedOrigins: [`https://${fresh("host")}.example`] },
      },
    }),
    { names: ["type"], closed: "config", owns: ["channels", "secrets", "agents.auth_enabled", "agents.auth_key_hmac"] },
  ),
  [`DELETE ${agent}/channels/{type}`]: ok("agent", webOn, {
    names: ["type"],
    owns: ["channels"],
  }),
  [`POST ${agent}/channels/{type}/test`]: ok("agent", storedBot, { names: ["type"], unaudited: true }),

  [`GET ${agent}/channels/{type}/messages`]: ok("agent", unsentMessage, { names: ["type"] }),
  [`POST ${agent}/channels/{type}/messages/{id}/retry`]: ok("agent", unsentMessage, {
    names: ["type"],
    owns: ["outbox", "outbox.created_at", "jobs"],
  }),

  [`GET ${agent}/event-sources`]: ok("agent", source()),
  [`POST ${agent}/event-sources`]: created("agent", newSource, { owns: ["event_sources"] }),
  [`PUT ${eventSource}`]: ok("agent", source({ authKey: "another-shared-key" }), { owns: ["event_sources"] }),
  [`DELETE ${eventSource}`]: ok("agent", source(), { owns: ["event_sources", "event_definitions"] }),
  [`POST ${eventSource}/rotate-token`]: created("agent", source(), { owns: ["event_sources"] }),
  [`POST ${eventSource}/dry-run`]: ok("agent", source({ payload: { order: 7 } }), { unaudited: true }),
  [`GET ${eventSource}/definitions`]: ok("agent", source()),
  [`POST ${eventSource}/definitions`]: created(
    "agent",
    source({ name: "Bugs", matchingPrompt: "A bug", action: "backlog" }),
    { owns: ["event_definitions"] },
  ),
  [`PUT ${eventSource}/definitions/{definitionId}`]: ok("agent", source({ enabled: false }), {
    owns: ["event_definitions"],
  }),
  [`DELETE ${eventSource}/definitions/{definitionId}`]: ok("agent", source(), { owns: ["event_definitions"] }),
  [`GET ${agent}/room`]: ok("agent", room()),
  [`PUT ${agent}/room`]: ok(
    "agent",
    room(() => ({ prompt: fresh("Look") })),
    { owns: ["rooms"] },
  ),
  [`DELETE ${agent}/room`]: ok("agent", room(), { owns: ["rooms", "event_backlog"] }),
  [`POST ${agent}/room/run`]: created("agent", room(), {
    owns: ["rooms", "event_backlog", "jobs", "turns", "conversations", "messages"],
  }),
  [`GET ${agent}/room/backlog`]: ok("agent", backlogEntry),
  [`PATCH ${agent}/room/backlog/{id}`]: ok("agent", backlogEntry, { owns: ["event_backlog", "rooms"] }),

  [`GET ${agent}/room/events`]: ok("agent", roomEvent),
  [`GET ${agent}/room/events/{id}`]: ok("agent", roomEvent),
  [`POST ${agent}/room/events/{id}/replay`]: created("agent", roomEvent, { owns: ["room_events", "jobs"] }),

  [`GET ${organizations}`]: ok("organization"),
  [`POST ${organizations}`]: created(
    "installation",
    async (world) => ({ json: { slug: fresh("org"), ownerEmail: await accountElsewhere(world) } }),
    { owns: ["organizations", "workspaces", "members", "workspace_members"] },
  ),
  [`GET ${organization}`]: ok("organization"),
  [`PATCH ${organization}`]: ok("organization", async () => ({ json: { name: fresh("New") } }), {
    owns: ["organizations", "organizations.slug", "organizations.revision"],
  }),
  [`DELETE ${organization}`]: ok("organization", ownOrganization, {
    owns: ["organizations", "organizations.deleted_at", "members", "jobs"],
  }),
  [`GET ${organization}/roles`]: ok("organization"),
  [`POST ${organization}/roles`]: created("organization", newRole, { owns: ["roles"] }),
  [`PUT ${organization}/roles/{key}`]: ok("organization", ownRole({ name: "Writer", permissions: ["agent:write"] }), {
    owns: ["roles", "roles.permissions"],
  }),
  [`DELETE ${organization}/roles/{key}`]: ok("organization", ownRole(), { owns: ["roles"] }),
  [`GET ${organization}/members`]: ok("organization"),
  [`POST ${organization}/members`]: created(
    "organization",
    async (world) => ({ json: { email: await accountElsewhere(world), roleKey: "viewer" } }),
    { owns: ["users", "members", "invitations"], oneOrganization: true },
  ),
  [`PUT ${member}`]: ok("organization", ownMember({ roleKey: "member" }), {
    owns: ["members.role_key"],
    oneOrganization: true,
  }),
  [`DELETE ${member}`]: ok("organization", ownMember(), {
    oneOrganization: true,
    owns: ["members", "workspace_members"],
  }),
  [`POST ${member}/password`]: created("organization", ownMember(), {
    owns: [...password, "invitations"],
    oneOrganization: true,
  }),
  [`DELETE ${member}/sessions`]: ok("organization", signedInMember, { owns: ["access_tokens"], oneOrganization: true }),
  [`GET ${organization}/invitations`]: ok("organization", sentInvitation),
  [`DELETE ${organization}/invitations/{id}`]: ok("organization", sentInvitation, { owns: ["invitations"] }),
  [`GET ${organization}/workspaces`]: ok("organization"),
  [`POST ${organization}/workspaces`]: created("organization", async () => ({ json: { name: fresh("workspace") } }), {
    owns: ["workspaces"],
  }),
  [`PATCH ${workspace}`]: ok(
    "organization",
    async (world, home) => ({
      params: { workspaceId: await world.workspace(home) },
      json: { name: fresh("workspace") },
    }),
    { owns: ["workspaces"] },
  ),
  [`DELETE ${workspace}`]: ok(
    "organization",
    async (world, home) => ({ params: { workspaceId: await world.workspace(home) } }),
    { owns: ["workspaces", "workspace_members"] },
  ),
  [`GET ${workspace}/members`]: ok("organization", async (_world, { workspaceId }) => ({ params: { workspaceId } })),
  [`PUT ${workspace}/members/{userId}`]: ok("organization", outOfWorkspace, { owns: ["workspace_members"] }),
  [`DELETE ${workspace}/members/{userId}`]: ok("organization", inWorkspace, {
    owns: ["workspace_members"],
  }),
  "GET /api/tools": ok("organization"),
  [`GET ${agent}/tools`]: ok("agent"),
  [`PATCH ${agent}/tools`]: ok("agent", toolsOff, { owns: ["agent_tools"] }),
  [`GET ${agent}/tools/required-secrets`]: ok("agent"),
  [`POST ${agent}/playground/stream`]: ok("agent", json({ messages: [{ role: "user", content: "Hi" }] }), {
    unaudited: true,
    freeForm: true,
    owns: ["jobs", "throttles", ...turnTables],
  }),
  [`GET ${agent}/playground/stream/{messageId}`]: ok("agent", playedTurn),
  [`DELETE ${agent}/playground/stream/{messageId}`]: ok("agent", playedTurn, { unaudited: true }),

  "GET /api/approvals": ok("organization", async (world, home, caller) => {
    await waitingCall(world, home, caller);
    return { query: `?status=pending&instanceId=${home.agentSlug}` };
  }),
  "POST /api/conversations/{id}/approvals/{toolCallId}": created("agent", waitingCall, { owns: ["tool_calls"] }),

  "GET /api/conversations": ok("organization", conversation()),
  [`GET ${oneConversation}`]: ok("agent", conversation()),
  [`PATCH ${oneConversation}`]: ok("agent", conversation({ title: "Another title" }), {
    owns: ["conversations"],
    differs: "fields",
  }),
  [`DELETE ${oneConversation}`]: ok("agent", conversation(), {
    owns: ["conversations", "turns", "turns.conversation_id"],
  }),
  [`GET ${oneConversation}/messages`]: ok("agent", conversation()),
  [`GET ${oneConversation}/state`]: ok("agent", conversation()),
  [`GET ${oneConversation}/hooks`]: ok("agent", conversation()),
  [`GET ${oneConversation}/turns`]: ok("agent", conversation()),
  [`GET ${oneConversation}/turns/{turnId}`]: ok("agent", conversation()),

  "GET /api/activity-stream/live": ok("organization"),
  "GET /api/activity-stream/conversations": ok("organization"),
  "GET /api/activity-stream/conversation": ok("organization", followed),

  [`GET ${organization}/plugins`]: ok("organization"),
  [`GET ${onePlugin}`]: ok("organization", plugin()),
  [`PUT ${onePlugin}`]: ok("organization", plugin(pluginSettings), { owns: ["plugins"], names: ["namespace"] }),
  [`DELETE ${onePlugin}`]: ok("organization", plugin(), { owns: ["plugins"] }),
  [`POST ${onePlugin}/refresh`]: ok("organization", plugin(), { owns: ["plugins"] }),

  [`GET ${organization}/plugin-packages`]: ok("organization"),
  [`PUT ${organization}/plugin-packages/{namespace}`]: ok("organization", packageOn, {
    owns: ["plugin_packages", "agents.revision"],
    names: ["namespace"],
  }),

  [`GET ${organization}/management-keys`]: ok("organization"),
  [`POST ${organization}/management-keys`]: created("organization", json({ name: "CI" }), { owns: ["access_tokens"] }),
  [`DELETE ${organization}/management-keys/{id}`]: ok(
    "organization",
    async (world, home) => ({ params: { id: (await world.key(home)).id } }),
    { owns: ["access_tokens"], differs: "keys of others" },
  ),

  [`GET ${organization}/skills`]: ok("organization"),
  [`POST ${organization}/skills`]: created(
    "organization",
    async () => ({ json: { name: fresh("skill"), ...skillText } }),
    { owns: ["skills", "skill_versions"], refuses: ["version", "scripts"] },
  ),
  [`POST ${organization}/skills/catalog/import`]: created(
    "organization",
    async () => ({ json: { skills: [{ name: fresh("skill"), ...skillText }] } }),
    { owns: ["skills", "skill_versions"], refuses: ["version"] },
  ),
  [`GET ${organization}/skills/{name}`]: ok("organization", skill()),
  [`PUT ${organization}/skills/{name}`]: ok("organization", skill(skillText), {
    owns: ["skills", "skill_versions"],
    refuses: ["version", "scripts"],
  }),
  [`DELETE ${organization}/skills/{name}`]: ok("organization", skill(), {
    owns: ["skills", "skill_versions", "workspace_skills", "agent_skills", "agent_tools", "skill_env"],
  }),
  [`GET ${organization}/skills/{name}/versions`]: ok("organization", skill()),
  [`GET ${organization}/skills/{name}/versions/{version}`]: ok("organization", skill(), { names: ["version"] }),
  [`GET ${organization}/skills/{name}/export`]: ok("organization", skill()),
  [`GET ${workspace}/skills`]: ok("organization", skill()),
  [`PUT ${workspace}/skills/{name}`]: ok("organization", unallowedSkill, { owns: ["workspace_skills", "agent_tools"] }),
  [`DELETE ${workspace}/skills/{name}`]: ok("organization", skill(), { owns: ["workspace_skills", "agent_tools"] }),
  [`GET ${agent}/skills`]: ok("agent", skill()),
  [`PATCH ${agent}/skills`]: ok("agent", skill({ enabled: [] }), { owns: ["agent_skills", "agent_tools"] }),
  [`POST ${agentSkill}/upgrade`]: created("agent", outdatedSkill, { ...pins, ...shared }),
  [`POST ${agentSkill}/rollback`]: created("agent", skill({ versionId: "0.1.0" }), { ...pins, ...shared }),
  [`POST ${agentSkill}/auto-load`]: created("agent", skill({ autoLoad: true }), { ...pins, ...shared }),
  [`GET ${agentSkill}/env`]: ok("agent", skill(), shared),
  [`PUT ${agentSkill}/env`]: ok("agent", skill({ env: [{ key: "API_BASE", value: "https://api.example.com" }] }), {
    ...shared,
    owns: ["skill_env"],
  }),
  [`DELETE ${agentSkill}/env/{key}`]: ok("agent", skillWithEnv, { ...shared, names: ["key"], owns: ["skill_env"] }),

  [`GET ${modelPrices}`]: ok("organization"),
  [`PUT ${modelPrices}`]: ok("organization", newPrices, { owns: ["model_prices"] }),

  [`GET ${retention}`]: ok("organization"),
  [`PUT ${retention}`]: ok("organization", newRetention, {
    owns: ["retention_policies"],
  }),
  [`POST ${retention}/preview`]: ok("organization", undefined, { unaudited: true }),

  [`POST ${organization}/erasures`]: created(
    "organization",
    async (_world, { agentSlug }) => ({ json: { subject: fresh("person"), instanceId: agentSlug } }),
    { things: ["instanceId"], owns: ["jobs"] },
  ),

  "GET /api/files/{id}": ok("organization", storedFile),

  "GET /memories": ok("organization", memory()),
  "POST /memories": created(
    "organization",
    async (_world, { agentSlug }) => ({ json: { instanceId: agentSlug, content: fresh("fact") } }),
    { things: ["instanceId"], owns: ["memories", "memories.digest"] },
  ),
  "DELETE /memories": ok("organization", memory(), { owns: ["memories"] }),
  "DELETE /memories/{id}": ok("organization", memory(), { owns: ["memories"] }),

  [`GET ${users}`]: ok("installation"),
  [`POST ${users}`]: created(
    "installation",
    async () => ({ json: { email: `${fresh("user")}@example.com`, password: "correct horse battery" } }),
    { owns: ["users"], oneOrganization: true },
  ),
  [`GET ${users}/{id}`]: ok("installation", userElsewhere()),
  [`PATCH ${users}/{id}`]: ok("installation", userElsewhere({ name: "Grace" }), {
    owns: ["users", "users.active", "users.is_platform_admin", ...password],
    oneOrganization: true,
  }),
  [`DELETE ${users}/{id}`]: ok("installation", userElsewhere(), { owns: ["users"], oneOrganization: true }),
  [`POST ${users}/{id}/password`]: ok("installation", userElsewhere({ password: "battery horse correct" }), {
    owns: password,
    oneOrganization: true,
  }),

  [`POST ${users}/{id}/impersonate`]: created(
    "installation",
    userElsewhere({ reason: "Ticket 4711: agents are missing" }),
    { owns: ["access_tokens"] },
  ),

  "GET /api/installation/policies": ok("installation", undefined, { differs: "sessions" }),
  "PATCH /api/installation/policies": ok("installation", newPolicy, { owns: ["installation"], differs: "sessions" }),
  "GET /api/installation/health": ok("installation", undefined, { differs: "sessions" }),
  [`GET ${mailRelay}`]: ok("installation", storedRelay),
  [`PUT ${mailRelay}`]: ok("installation", newRelay, { owns: ["installation"] }),
  [`DELETE ${mailRelay}`]: ok("installation", storedRelay, { owns: ["installation"] }),
  [`POST ${mailRelay}/test`]: ok("installation", testMail),
  "GET /api/audit-logs": ok("organization"),
  "GET /api/audit-logs/stats": ok("organization"),
  "GET /api/analytics": ok("organization"),
  "GET /api/analytics/now": ok("organization"),
  "GET /api/analytics/budgets": ok("organization"),
  "GET /api/analytics/usage": ok("organization", async () => ({ query: "?by=user" })),
  [`GET ${agent}/analytics`]: ok("agent"),

  "GET /api/me": ok("self"),
  "PATCH /api/me": ok("self", async () => ({ json: { name: fresh("name") } }), {
    owns: ["users.name", "users.updated_at"],
  }),
  "PATCH /api/me/onboarding": ok("self", json({ tour: "done" }), {
    owns: ["users.onboarding", "users.updated_at"],
    freeForm: true,
    unaudited: true,
  }),
  "POST /api/me/password": ok("self", knownPassword, {
    owns: password,
  }),
  "GET /api/me/invitations": ok("self", receivedInvitation),
  "POST /api/me/invitations/{id}": ok("self", receivedInvitation, { owns: ["invitations", "members"] }),
  "DELETE /api/me/organizations/{orgSlug}": ok("organization", secondOrganization, { owns: ["members"] }),
  "PUT /api/me/organization": ok("self", async (_world, { slug }) => ({ json: { slug } }), {
    owns: ["access_tokens.active_organization_id"],
    things: ["slug"],
    unaudited: true,
  }),
  "GET /api/me/sessions": ok("self"),
  "DELETE /api/me/sessions": ok("self", anotherSession, { owns: ["access_tokens"] }),
  "DELETE /api/me/sessions/{id}": ok("self", ownSession, { owns: ["access_tokens"] }),
  // By a session of one's own, which goes on.
  "POST /api/auth/stop-impersonating": ok("self", undefined, { unaudited: true }),
  "GET /api/me/tokens": ok("self"),
  "POST /api/me/tokens": created("self", newPersonalToken, { owns: ["access_tokens"] }),
  "DELETE /api/me/tokens/{id}": ok("self", ownToken, { owns: ["access_tokens"] }),
  "POST /api/auth/sign-out": ok("self", undefined, { owns: ["access_tokens"] }),
};

/** Routes without authentication, with a valid body where they take one. A new route belongs here or above. */
export const openRoutes: Record<string, ((agentSlug: string) => Record<string, unknown>) | null> = {
  "GET /health": null,
  "GET /health/scheduler": null,
  "GET /ready": null,
  "GET /metrics": null,
  "GET /files/{id}": null,
  "POST /v1/chat/completions": (model) => ({ model, messages: [{ role: "user", content: "Hi" }], chat_id: "c" }),
  "POST /api/instances/{slug}/chat/stream": () => ({ messages: [{ role: "user", content: "Hi" }], chat_id: "c" }),
  "POST /api/instances/{slug}/playground/chat/stream": () => ({ messages: [{ role: "user", content: "Hi" }] }),
  "GET /api/instances/{slug}/chat/stream/{messageId}": null,
  "DELETE /api/instances/{slug}/chat/stream/{messageId}": null,
  "POST /api/auth/sign-in/email": () => ({ email: "owner@example.com", password: "wrong" }),
  "POST /api/auth/forgot-password": () => ({ email: "owner@example.com" }),
  "POST /api/auth/reset-password": () => ({ token: "x", password: "correct horse battery" }),
  "POST /webhooks/telegram/{slug}": null,
  "POST /webhooks/slack/{slug}": null,
  "POST /webhooks/twilio/{slug}/whatsapp": null,
  "POST /webhooks/twilio/{slug}/whatsapp/{webhookSecret}": null,
  "POST /webhooks/{webhookToken}": () => ({ action: "opened" }),
  "GET /api/setup": null,
  "POST /api/setup": () => ({ token: "x", email: "owner@example.com", password: "correct horse battery" }),
};

/** Routes that are not in the document: pages and their files, and the chat's CORS answers. */
export const undocumented = [
  ...[
    "GET /",
    "GET /favicon.svg",
    "GET /favicon.ico",
    "GET /setup",
    "GET /panel/{file}",
    "GET /openapi.json",
    "GET /docs",
    "GET /docs/swagger-ui.css",
    "GET /docs/swagger-ui-bundle.js",
  ],
  ...["OPTIONS /v1/*", "OPTIONS /api/instances/{slug}/chat/stream"],
  "OPTIONS /api/instances/{slug}/chat/stream/{messageId}",
];
