import { and, eq } from "drizzle-orm";
import { sealCredentials } from "../../src/core/credentials/event-source.ts";
import { digest, newId, randomToken } from "../../src/core/ids.ts";
import {
  accessTokens,
  agentIcons,
  agentSkills,
  agents,
  agentTools,
  channels,
  conversations,
  customRoles,
  eventBacklog,
  eventDefinitions,
  eventSources,
  hooks,
  installation,
  invitations,
  members,
  outbox,
  pluginPackages,
  plugins,
  providerConnections,
  roomEvents,
  rooms,
  scheduledTasks,
  secrets,
  skillEnv,
  skills,
  skillVersions,
  streamChunks,
  toolCalls,
  turns,
  users,
  workspaceSkills,
} from "../../src/db/schema.ts";
import { storeFile } from "../../src/features/files/index.ts";
import { saveMemory } from "../../src/features/memories/index.ts";
import { secretPlace } from "../../src/features/secrets/rules.ts";
import { envPlace } from "../../src/features/skills/env/load.ts";
import { sealTransport } from "../../src/features/tools/plugins/mcp/store.ts";
import { issueToken } from "../features/account/people.ts";
import { passwords } from "../passwords.ts";
import { fresh, type Home, type Person, type World } from "./world.ts";

/** The variable parts of a request: the values of its path, its query string, its JSON body. */
export interface Prepared {
  params?: Record<string, string>;
  query?: string;
  json?: Record<string, unknown>;
}

/** Makes a request's objects, anew for each; the caller may be any member of the home's organization. */
export type Prepare = (world: World, home: Home, caller: Person) => Promise<Prepared>;

export const json =
  (body: Record<string, unknown>): Prepare =>
  async () => ({ json: body });

/** An agent as a file, only with parts that need no other permission than to change agents. */
export const bundle: Prepare = async () => ({
  json: { version: "1.3", type: "instance", instance: { slug: fresh("bundle"), name: fresh("Bundle") } },
});

/** A separate agent, for requests that would spoil the home's. */
export const ownAgent: Prepare = async (world, home) => ({ params: { slug: (await world.agent(home)).agentSlug } });

const png = Uint8Array.from(`\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR${"\0".repeat(17)}`, (character) =>
  character.charCodeAt(0),
);

/** The same picture as a body. */
const iconAsText = `data:image/png;base64,${btoa(String.fromCharCode(...png))}`;

export const withIcon: Prepare = async ({ db }, { agentId }) => {
  const icon = { agentId, mime: "image/png", bytes: png, version: "1" };
  await db.insert(agentIcons).values(icon).onConflictDoNothing();
  return {};
};

/** For an agent that has another one, or none. */
export const withoutIcon: Prepare = async ({ db }, { agentId }) => {
  await db.delete(agentIcons).where(eq(agentIcons.agentId, agentId));
  return { json: { icon: iconAsText } };
};

/** A secret with a new value: a value that is stored already writes nothing. */
export const newSecret: Prepare = async () => ({
  json: { secrets: [{ key: "helpdesk_token", value: fresh("sk-123") }] },
});

export const storedSecret: Prepare = async ({ db, h }, { agentId }) => {
  const key = "helpdesk_token";
  const sealed = await h.services.cipher.seal("sk-stored-0123", secretPlace(agentId, key));
  await db
    .insert(secrets)
    .values({ id: newId(), agentId, key, ...sealed })
    .onConflictDoNothing();
  return { params: { key } };
};

export const newConnection: Prepare = async () => ({ json: { name: fresh("connection"), provider: "demo" } });

/** A connection of the home's organization or, with `agentId`, of its agent. */
const storedConnection = async ({ db }: World, organizationId: string, agentId: string | null = null) => {
  const id = newId();
  await db
    .insert(providerConnections)
    .values({ id, organizationId, agentId, name: fresh("connection"), provider: "demo" });
  return id;
};

export const sharedConnection =
  (body?: Record<string, unknown>): Prepare =>
  async (world, { id }) => ({ params: { id: await storedConnection(world, id) }, ...(body ? { json: body } : {}) });

export const privateConnection =
  (body?: Record<string, unknown>): Prepare =>
  async (world, { id, agentId }) => ({
    params: { id: await storedConnection(world, id, agentId) },
    ...(body ? { json: body } : {}),
  });

/** Another limit each time. */
export const newAdmission: Prepare = async (_world, { workspaceId }) => ({
  params: { workspaceId },
  json: { admitted: [{ provider: "openai", models: [fresh("model")] }] },
});

export const newBinding: Prepare = async (world, { id, agentId }) => ({
  params: { role: "chat" },
  json: { connectionId: await storedConnection(world, id, agentId) },
});

export const webOn: Prepare = async ({ db, h }, { agentId }) => {
  const { keyId, ciphertext } = await h.services.cipher.seal("{}", `${agentId}:channel:web`);
  const row = { agentId, type: "web", enabled: true, keyId, config: ciphertext };
  await db
    .insert(channels)
    .values(row)
    .onConflictDoUpdate({ target: [channels.agentId, channels.type], set: { enabled: true } });
  return { params: { type: "web" } };
};

/** A bot whose messenger can't be reached. */
export const storedBot: Prepare = async ({ db, h }, { agentId }) => {
  const config = JSON.stringify({ botToken: `1234567:${"b".repeat(35)}`, webhookSecret: "hook-secret" });
  const { keyId, ciphertext } = await h.services.cipher.seal(config, `${agentId}:channel:telegram`);
  const row = { agentId, type: "telegram", enabled: true, status: "running", keyId, config: ciphertext };
  await db.insert(channels).values(row).onConflictDoNothing();
  return { params: { type: "telegram" } };
};

/** A message that could not be sent. */
export const unsentMessage: Prepare = async ({ db }, { agentId }) => {
  const id = newId();
  const row = { agentId, channel: "telegram", target: "4711", body: "Hello", status: "failed", error: "It is off" };
  await db.insert(outbox).values({ ...row, id });
  return { params: { type: "telegram", id } };
};

/** Tools that are on before. */
export const toolsOff: Prepare = async ({ db }, { agentId }) => {
  await db.insert(agentTools).values({ agentId, name: "currentTime", source: "manual" }).onConflictDoNothing();
  return { json: { enabled: ["readSkill"] } };
};

let retentionDays = 1;
/** A retention policy, each time another one. */
export const newRetention: Prepare = async () => {
  retentionDays += 1;
  return { json: { policies: [{ subject: "files", enabled: true, days: retentionDays }] } };
};

let inputPerMillion = 1;
/** Prices, each time others. */
export const newPrices: Prepare = async () => {
  inputPerMillion += 1;
  return { json: { prices: [{ provider: "openai", model: "gpt-5*", inputPerMillion, outputPerMillion: 2 }] } };
};

let debounceMs = 1_000;
export const newPolicy: Prepare = async () => {
  debounceMs += 1;
  return { json: { debounceMs } };
};

const relay = { host: "127.0.0.1", port: 2525, secure: false, requireTls: true, from: "agents@example.com" };

/** A relay of another host each time, so that each request changes it. */
/** Turns the package off, which each request finds on. */
export const packageOn: Prepare = async ({ db }) => {
  await db.delete(pluginPackages);
  return { params: { namespace: "weather" }, json: { enabled: false } };
};

export const newRelay: Prepare = async () => ({ json: { ...relay, host: fresh("host") } });

export const storedRelay: Prepare = async ({ db, h }) => {
  const stored = JSON.stringify({ ...relay, username: "agents", password: "relay-password" });
  const { ciphertext, keyId } = await h.services.cipher.seal(stored, "installation:1");
  await db.update(installation).set({ mailRelay: ciphertext, mailRelayKeyId: keyId });
  return {};
};

export const testMail: Prepare = async (...at) => ({ ...(await storedRelay(...at)), json: { to: "ada@example.com" } });

export const ownMember =
  (body?: Record<string, unknown>): Prepare =>
  async (world, home) => ({
    params: { userId: (await world.person("viewer", home)).id },
    ...(body ? { json: body } : {}),
  });

/** A signed-in member of the home's organization. */
export const signedInMember: Prepare = async (world, home) => {
  const person = await world.person("viewer", home);
  await world.session(person);
  return { params: { userId: person.id } };
};

/** An invitation to an organization by its Owner. */
async function invitation(world: World, home: Home, userId: string) {
  const [id, inviter] = [newId(), await world.person("owner", home)];
  const offer = { organizationId: home.id, userId, roleKey: "viewer", invitedByUser: inviter.id };
  await world.db.insert(invitations).values({ ...offer, id, expiresAt: new Date("2999-01-01") });
  return { params: { id } };
}

/** Of the home's organization, to a person elsewhere. */
export const sentInvitation: Prepare = async (world, home) => {
  const id = newId();
  await world.db.insert(users).values({ id, email: `${id}@example.com`, name: "Ada" });
  return invitation(world, home, id);
};

const anotherHome = async (world: World, home: Home) => ({
  ...home,
  ...(await world.h.createOrganization(fresh("org"))),
});

/** To the caller. */
export const receivedInvitation: Prepare = async (world, home, { id }) => ({
  ...(await invitation(world, await anotherHome(world, home), id)),
  json: { accept: true },
});

/** An organization that the caller may leave. */
export const secondOrganization: Prepare = async (world, home, { id: userId }) => {
  const { id: organizationId, slug } = await anotherHome(world, home);
  await world.db.insert(members).values({ organizationId, userId, roleKey: "viewer" });
  return { params: { orgSlug: slug } };
};

/** An organization of the caller's, with the role that the caller has in the home's. */
export const ownOrganization: Prepare = async (world, home, { id: userId }) => {
  const { id: organizationId, slug } = await anotherHome(world, home);
  const isOwn = and(eq(members.organizationId, home.id), eq(members.userId, userId));
  const [own] = await world.db.select({ roleKey: members.roleKey }).from(members).where(isOwn);
  if (own) await world.db.insert(members).values({ organizationId, userId, ...own });
  return { params: { orgSlug: slug }, json: { confirm: slug } };
};

/** Of the home's workspace, and of the organization. */
export const inWorkspace: Prepare = async (world, home) => ({
  params: { workspaceId: home.workspaceId, userId: (await world.person("viewer", home)).id },
});

/** Of the organization, and not yet of the home's workspace. */
export const outOfWorkspace: Prepare = async (world, home) => ({
  params: { workspaceId: home.workspaceId, userId: (await world.person("viewer", home, { reach: false })).id },
});

/** An account without a membership anywhere, in the path. */
export const userElsewhere =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db }) => {
    const id = newId();
    await db.insert(users).values({ id, email: `${id}@example.com`, name: "Ada" });
    return { params: { id }, ...(body ? { json: body } : {}) };
  };

/** An account without a membership anywhere. */
export const accountElsewhere = async ({ db }: World) => {
  const id = newId();
  const email = `${id}@example.com`;
  await db.insert(users).values({ id, email, name: "Ada" });
  return email;
};

let hash: Promise<string> | undefined;
const currentPassword = "correct horse battery";

export const knownPassword: Prepare = async ({ db }, _home, { id }) => {
  hash ??= passwords.hash(currentPassword);
  await db
    .update(users)
    .set({ passwordHash: await hash })
    .where(eq(users.id, id));
  return { json: { currentPassword, newPassword: "battery horse correct" } };
};

export const anotherSession: Prepare = async (world, _home, caller) => {
  await world.session(caller);
  return {};
};

export const ownSession: Prepare = async ({ db, session }, _home, caller) => {
  const [row] = await db
    .select({ id: accessTokens.id })
    .from(accessTokens)
    .where(eq(accessTokens.digest, await digest(await session(caller))));
  return { params: { id: row?.id ?? "" } };
};

export const newRole: Prepare = async () => ({
  json: { key: fresh("role").slice(0, 40), name: "Reader", permissions: ["org:read"] },
});

/** A role of the home's organization. */
export const ownRole =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db }, { id: organizationId }) => {
    const key = fresh("role").slice(0, 40);
    const row = { id: newId(), organizationId, key, name: key, permissions: ["org:read"] };
    await db.insert(customRoles).values(row);
    return { params: { key }, ...(body ? { json: body } : {}) };
  };

/** A Platform Admin who is no member can have a token of no organization. */
export const newPersonalToken: Prepare = async (_world, _home, { isPlatformAdmin }) => ({
  json: { name: fresh("token"), ...(isPlatformAdmin ? { scope: "installation" } : {}) },
});

export const ownToken: Prepare = async ({ h }, home, caller) => ({
  params: { id: (await issueToken(h, caller.id, { organizationId: home.id })).id },
});

/** A skill with two versions, allowed in the home's workspace and enabled on its agent. */
export const skill =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db }, { id: organizationId, workspaceId, agentId }) => {
    const [id, first, second] = [newId(), newId(), newId()];
    const slug = fresh("skill");
    await db.insert(skills).values({ id, organizationId, slug, name: slug, currentVersionId: second });
    const version = { skillId: id, description: "What it is for", content: "How it is done" };
    await db.insert(skillVersions).values([
      { ...version, id: first, version: "0.1.0" },
      { ...version, id: second, version: "0.2.0" },
    ]);
    await db.insert(workspaceSkills).values({ workspaceId, skillId: id });
    await db.insert(agentSkills).values({ agentId, skillId: id, pinnedVersionId: second });
    const params = { name: slug, skillSlug: slug, version: "0.1.0", key: "API_BASE", workspaceId };
    return { params, ...(body ? { json: body } : {}) };
  };

/** One that the home's workspace has not allowed yet. */
export const unallowedSkill: Prepare = async (world, home, caller) => {
  const prepared = await skill()(world, home, caller);
  const { workspaceId } = home;
  await world.db.delete(workspaceSkills).where(eq(workspaceSkills.workspaceId, workspaceId));
  return prepared;
};

/** One that the home's agent has in its first version. */
export const outdatedSkill: Prepare = async (world, home, caller) => {
  const prepared = await skill()(world, home, caller);
  const [first] = await world.db
    .select({ id: skillVersions.id, skillId: skillVersions.skillId })
    .from(skillVersions)
    .innerJoin(skills, eq(skills.id, skillVersions.skillId))
    .where(and(eq(skills.slug, prepared.params?.skillSlug ?? ""), eq(skillVersions.version, "0.1.0")));
  if (!first) throw new Error("The skill has no first version");
  const pin = { pinnedVersionId: first.id };
  await world.db.update(agentSkills).set(pin).where(eq(agentSkills.skillId, first.skillId));
  return prepared;
};

/** One whose variable is stored. */
export const skillWithEnv: Prepare = async (world, home, caller) => {
  const prepared = await skill()(world, home, caller);
  const [row] = await world.db
    .select()
    .from(skills)
    .where(eq(skills.slug, prepared.params?.skillSlug ?? ""));
  const [agentId, skillId, key] = [home.agentId, row?.id ?? "", prepared.params?.key ?? ""];
  const sealed = await world.h.services.cipher.seal("https://api.example", envPlace(agentId, skillId, key));
  await world.db.insert(skillEnv).values({ agentId, skillId, key, ...sealed });
  return prepared;
};

const calls = { event: "message_received", actionConfig: { toolName: "currentTime" } };

/** For a separate agent, since an agent has a limited number. */
export const newHook: Prepare = async (world, home) => ({
  params: { slug: (await world.agent(home)).agentSlug },
  json: calls,
});

/** Of the home's agent. */
export const hook =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db }, { agentId }) => {
    const id = newId();
    await db.insert(hooks).values({ ...calls, actionConfig: { ...calls.actionConfig, args: {} }, id, agentId });
    return { params: { id }, ...(body ? { json: body } : {}) };
  };

/** For a separate agent, since an agent has a limited number. */
export const newSource: Prepare = async (world, home) => ({
  params: { slug: (await world.agent(home)).agentSlug },
  json: { name: "Issues", sourceType: "webhook", authKey: "shared-with-the-sender" },
});

/** Of the home's agent, with a definition. */
export const source =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db, h }, { id: organizationId, agentId }) => {
    const [id, definitionId] = [newId(), newId()];
    const sealed = await sealCredentials(h.services.cipher, id, { webhookToken: randomToken() });
    await db
      .insert(eventSources)
      .values({ ...sealed, id, agentId, organizationId, name: "Issues", sourceType: "webhook" });
    const definition = { name: "Bugs", matchingPrompt: "A bug", action: "backlog" as const, priority: 0 };
    await db.insert(eventDefinitions).values({ ...definition, id: definitionId, sourceId: id, agentId });
    return { params: { id, definitionId }, ...(body ? { json: body } : {}) };
  };

const daily = {
  name: "Morning report",
  prompt: "Report.",
  schedule: { type: "cron", expression: "0 9 * * *", timezone: "Europe/Rome" },
};

/** For a separate agent, since an agent has a limited number. */
export const newTask: Prepare = async (world, home) => ({
  params: { slug: (await world.agent(home)).agentSlug },
  json: daily,
});

/** Of the home's agent, never due. */
export const task =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db }, { id: organizationId, agentId }) => {
    const id = newId();
    const row = { ...daily, id, agentId, organizationId, enabled: false };
    await db.insert(scheduledTasks).values({ ...row, anchorAt: new Date("2026-01-01") });
    return { params: { id }, ...(body ? { json: body } : {}) };
  };

/** Of the home's agent, and on. */
export const room =
  (body?: () => Record<string, unknown>): Prepare =>
  async ({ db }, { id: organizationId, agentId, agentSlug }) => {
    const row = { id: newId(), agentId, organizationId, conversationRef: `room:${agentSlug}:1` };
    await db
      .insert(rooms)
      .values(row)
      .onConflictDoUpdate({ target: rooms.agentId, set: { enabled: true } });
    return body ? { json: body() } : {};
  };

/** In the Room of the home's agent. */
export const backlogEntry: Prepare = async (world, home, caller) => {
  await room()(world, home, caller);
  const own = { agentId: home.agentId, organizationId: home.id };
  const [id, matchedAt] = [newId(), new Date(0)];
  await world.db.insert(eventBacklog).values({ ...own, id, status: "failed", matchedAt });
  return { params: { id }, json: { status: "discarded" } };
};

/** An event of a source of the home's agent. */
export const roomEvent: Prepare = async (world, home, caller) => {
  const { params } = await source()(world, home, caller);
  const [id, receivedAt] = [newId(), new Date(world.h.clock.now())];
  const event = { id, receivedAt, payload: { order: 4711 }, outcome: "no-match" as const };
  const own = { agentId: home.agentId, organizationId: home.id, sourceId: params?.id };
  await world.db.insert(roomEvents).values({ ...event, ...own });
  return { params: { id } };
};

/** Of the home's agent. */
export const memory =
  (): Prepare =>
  async (world, { id: organizationId, agentId }) => {
    const agent = { id: agentId, organizationId };
    const { memory: saved } = await saveMemory(world.h.services.database, {
      agent,
      subject: "",
      content: fresh("fact"),
    });
    return { params: { id: saved.id } };
  };

/** In a conversation of the home's agent. */
export const storedFile: Prepare = async ({ db, h }, { id: organizationId, agentId, agentSlug }) => {
  const [id, channelId] = [newId(), fresh("api")];
  const row = { id, agentId, organizationId, ref: `${agentSlug}:web:${channelId}`, channel: "web", channelId };
  await db.insert(conversations).values({ ...row, subject: "web:ada" });
  await db.update(agents).set({ attachmentsEnabled: true }).where(eq(agents.id, agentId));
  const inbound = { agent: { id: agentId }, conversation: { id }, name: "note.txt", mime: "text/plain" };
  const file = await storeFile(h.services, { ...inbound, bytes: new TextEncoder().encode(fresh("note")) });
  return { params: { id: file.id } };
};

/** Of the home's agent, with a turn that ended. */
export const conversation =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db }, { id: organizationId, agentId, agentSlug }) => {
    const [id, turnId] = [newId(), newId()];
    const channelId = fresh("api");
    const ref = `${agentSlug}:web:${channelId}`;
    const own = { agentId, organizationId, subject: "web:ada" as const };
    const named = { ref, channel: "web", channelId, title: fresh("title"), messageCount: 2 };
    await db.insert(conversations).values({ ...own, ...named, id });
    const turn = { status: "done" as const, door: "native", owner: newId(), leaseUntil: new Date(0) };
    await db.insert(turns).values({ ...own, ...turn, id: turnId, conversationId: id });
    return { params: { conversationId: ref, turnId }, ...(body ? { json: body } : {}) };
  };

/** The same, named in the query. */
export const followed: Prepare = async (world, home, caller) => {
  const { params } = await conversation()(world, home, caller);
  return { query: `?${new URLSearchParams({ ...params, instanceId: home.agentSlug })}` };
};

/** A turn of the playground that ended just now on another replica, which stored its events. */
export const playedTurn: Prepare = async ({ db }, { id: organizationId, agentId, agentSlug }) => {
  const [id, turnId] = [newId(), newId()];
  const [channelId, subject] = [fresh("play"), "web:ada"] as const;
  const ref = `${agentSlug}:playground:${channelId}`;
  await db
    .insert(conversations)
    .values({ id, agentId, organizationId, ref, channel: "playground", channelId, subject });
  const turn = { agentId, organizationId, conversationId: id, subject, owner: newId(), leaseUntil: new Date(0) };
  await db.insert(turns).values({ ...turn, id: turnId, status: "done", door: "playground", finishedAt: new Date() });
  const said = ["", "event: done\ndata: {}\n\n", ""];
  await db.insert(streamChunks).values(said.map((events, first) => ({ turnId, first, events })));
  return { params: { messageId: turnId } };
};

/** A turn that waits for two decisions, so that one of them does not let it go on. */
export const waitingCall: Prepare = async ({ db }, { id: organizationId, agentId, agentSlug }) => {
  const [id, turnId] = [newId(), newId()];
  const [channelId, subject, toolCallId] = [fresh("api"), "web:ada", fresh("call")] as const;
  const ref = `${agentSlug}:web:${channelId}`;
  const channel = { channel: "web", channelId };
  await db.insert(conversations).values({ id, agentId, organizationId, ref, ...channel, subject, awaiting: turnId });
  const turn = { agentId, organizationId, conversationId: id, subject, owner: newId(), leaseUntil: new Date(0) };
  await db.insert(turns).values({ ...turn, id: turnId, status: "approval", door: "native", suspended: [] });
  const call = { turnId, agentId, name: "httpRequest", args: {}, status: "pending", expiresAt: new Date("2999-01-01") };
  await db.insert(toolCalls).values([
    { ...call, toolCallId },
    { ...call, toolCallId: fresh("call") },
  ]);
  return { params: { id: ref, toolCallId }, json: { approved: true } };
};

const server = { type: "http" as const, url: "https://mcp.example.com/", headers: {} };
/** Settings for a server that the tests can't reach, which is no error. */
export const pluginSettings = { kind: "mcp", transport: { type: "http", url: "https://other.example.com/" } };

export const plugin =
  (body?: Record<string, unknown>): Prepare =>
  async ({ db, h }, { id: organizationId }) => {
    const namespace = fresh("p");
    const { keyId, ciphertext } = await sealTransport(h.services.cipher, organizationId, namespace, server);
    await db.insert(plugins).values({ id: newId(), organizationId, namespace, kind: "mcp", keyId, config: ciphertext });
    return { params: { namespace }, ...(body ? { json: body } : {}) };
  };
