import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newToken } from "../../../src/core/credentials/tokens.ts";
import { openEdition } from "../../../src/core/edition.ts";
import { newId } from "../../../src/core/ids.ts";
import { accessTokens, members, users, workspaceMembers, workspaces } from "../../../src/db/schema.ts";
import { managedEdition } from "../../harness.ts";
import { spyOnStatements } from "../../statements.ts";
import { issueToken } from "../account/people.ts";
import { type ActivityHarness, activityHarness, pause } from "./following.ts";

/** A member and a management key with a live stream, one of an agent and one of a conversation each. */
async function watching(edition = openEdition) {
  const h = await activityHarness({ edition });
  const agent = await h.actor();
  const talk = await h.talk(agent);
  const member = await h.as("member");
  const key = await managementKey(h);
  const open = async (headers: Record<string, string>) => ({
    live: await h.live(headers),
    agent: await h.live(headers, `?instance=${agent.slug}`),
    conversation: await h.conversation(headers, talk.query),
  });
  const streams = { member: await open(member), key: await open(key.headers) };
  const { userId } = await find(h, member);
  return { h, agent, talk, userId, keyId: key.id, member, streams };
}

type Watching = Awaited<ReturnType<typeof watching>>;

async function managementKey(h: ActivityHarness) {
  const { token, digest } = await newToken("management");
  const row = { id: newId(), kind: "management" as const, digest, organizationId: h.organization.id };
  const expiresAt = new Date(h.clock.now() + 60_000);
  await h.db.insert(accessTokens).values({ ...row, prefix: token.slice(0, 10), name: "CI", expiresAt });
  return { id: row.id, headers: { Authorization: `Bearer ${token}` } };
}

async function find(h: ActivityHarness, headers: Record<string, string>) {
  const { user } = (await (await h.request("/api/me", { headers })).json()) as { user: { id: string } };
  return { userId: user.id };
}

const ofMember = ({ userId }: Watching) => eq(workspaceMembers.userId, userId);
const all = ["live", "agent", "conversation"] as const;

/** The changes that end rights, and the streams that end with them. */
const changes: Record<
  string,
  { change: (w: Watching) => Promise<unknown>; member: readonly string[]; key: readonly string[] }
> = {
  "the session ended": {
    change: ({ h, member }) => h.request("/api/auth/sign-out", { method: "POST", headers: member }),
    member: all,
    key: [],
  },
  "the membership ended": {
    change: ({ h, userId }) => h.db.delete(members).where(eq(members.userId, userId)),
    member: all,
    key: [],
  },
  "the user removed": {
    change: ({ h, userId }) => h.db.delete(users).where(eq(users.id, userId)),
    member: all,
    key: [],
  },
  "a role that this release does not know": {
    change: ({ h, userId }) => h.db.update(members).set({ roleKey: "guest" }).where(eq(members.userId, userId)),
    member: all,
    key: [],
  },
  "the workspace lost": {
    change: (w) => w.h.db.delete(workspaceMembers).where(ofMember(w)),
    member: all,
    key: [],
  },
  "another workspace won": {
    async change({ h, userId }) {
      const id = newId();
      await h.db.insert(workspaces).values({ id, organizationId: h.organization.id, name: "annex" });
      await h.db.insert(workspaceMembers).values({ workspaceId: id, userId });
    },
    member: ["live"],
    key: [],
  },
  "the key deleted": {
    change: ({ h, keyId }) => h.db.delete(accessTokens).where(eq(accessTokens.id, keyId)),
    member: [],
    key: all,
  },
  "the key expired": { change: ({ h }) => h.clock.advance(60_000), member: [], key: all },
  "the conversation deleted": {
    async change({ h, talk }) {
      const path = `/api/conversations/${encodeURIComponent(talk.ref)}`;
      expect((await h.request(path, { method: "DELETE", headers: await h.as("owner") })).status).toBe(200);
    },
    member: ["conversation"],
    key: ["conversation"],
  },
  "the agent deleted": {
    async change({ h, agent }) {
      const path = `/api/instances/${agent.slug}`;
      expect((await h.request(path, { method: "DELETE", headers: await h.as("owner") })).status).toBe(200);
    },
    member: ["agent", "conversation"],
    key: ["agent", "conversation"],
  },
  "the agent moved out of reach": {
    async change({ h, agent }) {
      const id = newId();
      await h.db.insert(workspaces).values({ id, organizationId: h.organization.id, name: "annex" });
      await h.move(agent.id, id);
    },
    member: ["agent", "conversation"],
    key: [],
  },
};

describe.each(Object.entries(changes))("%s", (_, { change, member, key }) => {
  test("ends the streams that it concerns, and no other", async () => {
    const w = await watching();
    await w.h.engine.closeRevoked();
    await change(w);
    await w.h.engine.closeRevoked();
    w.h.tell(w.agent, "after", w.talk.ref);
    await pause();
    const ended = { member: await endedOf(w.streams.member), key: await endedOf(w.streams.key) };
    expect(ended).toEqual({ member: [...member], key: [...key] });
    for (const [who, names] of Object.entries(ended)) {
      for (const name of names) {
        const text = w.streams[who as keyof typeof ended][name as (typeof all)[number]].text();
        expect(text).toMatch(/^: [A-Z].*\n\n$/m);
        expect(text).not.toContain("after");
      }
    }
  });
});

async function endedOf(streams: Watching["streams"]["member"]): Promise<string[]> {
  const still = Symbol();
  const states = await Promise.all(all.map((name) => Promise.race([streams[name].ended, pause().then(() => still)])));
  return all.filter((_, n) => states[n] !== still);
}

test("a Platform Admin who is none any more loses the streams, and so does an inactive user", async () => {
  const w = await watching(managedEdition);
  const [admin, by] = [await w.h.asPlatformAdmin(), await w.h.asPlatformAdmin()];
  const stream = await w.h.live(admin);
  await w.h.engine.closeRevoked();
  for (const [id, json] of [
    [(await find(w.h, admin)).userId, { isPlatformAdmin: false }],
    [w.userId, { active: false }],
  ] as const) {
    expect((await w.h.request(`/api/users/${id}`, { method: "PATCH", headers: by, json })).status).toBe(200);
  }
  await w.h.engine.closeRevoked();
  await stream.ended;
  expect(stream.text()).toContain(": Organization not found");
  expect(await endedOf(w.streams.member)).toEqual([...all]);
  expect(await endedOf(w.streams.key)).toEqual([]);
});

test("an impersonation's stream ends with the impersonation", async () => {
  const w = await watching(managedEdition);
  const { userId: createdBy } = await find(w.h, await w.h.asPlatformAdmin());
  const { headers } = await issueToken(w.h, w.userId, { kind: "impersonation", createdBy });
  const stream = await w.h.live(headers);
  await w.h.engine.closeRevoked();
  await w.h.request("/api/auth/stop-impersonating", { method: "POST", headers });
  await w.h.engine.closeRevoked();
  await stream.ended;
  expect(stream.text()).toContain(": Invalid or expired credentials");
  expect(await endedOf(w.streams.member)).toEqual([]);
});

test("a personal token that is deleted loses its streams, and the session of its holder none", async () => {
  const w = await watching(managedEdition);
  const token = await issueToken(w.h, w.userId, { organizationId: w.h.organization.id });
  const stream = await w.h.live(token.headers);
  await w.h.engine.closeRevoked();
  await w.h.db.delete(accessTokens).where(eq(accessTokens.id, token.id));
  await w.h.engine.closeRevoked();
  await stream.ended;
  expect(stream.text()).toContain(": Invalid or expired credentials");
  expect(await endedOf(w.streams.member)).toEqual([]);
});

test("all streams together, of chats and of activity, take one query", async () => {
  const w = await watching();
  const { texts } = spyOnStatements(w.h.services.database);
  await w.h.engine.closeRevoked();
  expect(texts().filter((text) => text.includes("access_tokens"))).toHaveLength(1);
});

test("changes that don't affect reading leave the streams open", async () => {
  const w = await watching();
  const own = and(eq(members.userId, w.userId));
  await w.h.db.update(members).set({ roleKey: "viewer" }).where(own);
  await w.h.request(`/api/instances/${w.agent.slug}`, {
    method: "PATCH",
    headers: await w.h.as("owner"),
    json: { name: "Another" },
  });
  await w.h.engine.closeRevoked();
  expect(await endedOf(w.streams.member)).toEqual([]);
});
