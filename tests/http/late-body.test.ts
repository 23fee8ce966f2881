import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { accessTokens, members, turns, users, workspaceMembers, workspaces } from "../../src/db/schema.ts";
import { issueToken } from "../features/account/people.ts";
import { type Harness, harness, managedEdition } from "../harness.ts";
import { gate } from "../scripted-model.ts";

const keys = "/api/organizations/acme/management-keys";

/** A request whose head is accepted now, and whose body is sent by `send`. */
async function begin(h: Harness, path: string, headers: Record<string, string>, json: object, method = "POST") {
  const text = JSON.stringify(json);
  const [letIn, held] = [gate(), gate()];
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        letIn.open();
        await held.promise;
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    },
    // The body is requested once somebody reads, which is after the guard has accepted the request.
    { highWaterMark: 0 },
  );
  const length = { "Content-Type": "application/json", "Content-Length": String(text.length) };
  const init = { method, headers: { ...headers, ...length }, body, duplex: "half" };
  const answer = h.request(path, init as RequestInit);
  await letIn.promise;
  return async () => {
    held.open();
    const response = await answer;
    return [response.status, ((await response.json()) as { message?: string }).message] as const;
  };
}

async function owner() {
  const h = await harness();
  const headers = await h.as("owner");
  const { db } = h.services.database;
  return { h, headers, db };
}

async function makeKey(h: Harness, headers: Record<string, string>) {
  const made = await h.request(keys, { method: "POST", headers, json: { name: "k" } });
  return (await made.json()) as { id: string; key: string };
}

test("a request whose caller is removed while its body is being sent changes nothing", async () => {
  const { h, headers, db } = await owner();
  const send = await begin(h, keys, headers, { name: "late" });
  await db.delete(members);
  expect(await send()).toEqual([404, "Organization not found"]);
  expect(await db.select().from(accessTokens).where(eq(accessTokens.kind, "management"))).toEqual([]);
});

test("nor does one of a Platform Admin who is none any more", async () => {
  const h = await harness({ edition: managedEdition });
  const { db } = h.services.database;
  const send = await begin(h, keys, await h.asPlatformAdmin(), { name: "late" });
  await db.update(users).set({ isPlatformAdmin: false });
  expect(await send()).toEqual([404, "Organization not found"]);
  expect(await db.select().from(accessTokens).where(eq(accessTokens.kind, "management"))).toEqual([]);
});

test("nor does one of a personal token that is deleted meanwhile", async () => {
  const h = await harness({ edition: managedEdition });
  const { db } = h.services.database;
  const admin = await h.asPlatformAdmin();
  const [user] = await db.select({ id: users.id }).from(users);
  const { id, headers } = await issueToken(h, user?.id ?? "");
  const path = "/api/organizations/acme/workspaces";
  const send = await begin(h, path, headers, { name: "late" });
  expect((await h.request(`/api/me/tokens/${id}`, { method: "DELETE", headers: admin })).status).toBe(200);
  expect(await send()).toEqual([401, "Invalid or expired credentials"]);
  expect((await db.select().from(workspaces)).map(({ name }) => name)).not.toContain("late");
});

test("neither does one whose session ended", async () => {
  const { h, headers } = await owner();
  const send = await begin(h, keys, headers, { name: "late" });
  await h.request("/api/auth/sign-out", { method: "POST", headers });
  expect((await send())[0]).toBe(401);
});

test("nor does one that would rename the caller", async () => {
  const { h, headers, db } = await owner();
  const send = await begin(h, "/api/me", headers, { name: "Late" }, "PATCH");
  await h.request("/api/auth/sign-out", { method: "POST", headers });
  expect(await send()).toEqual([401, "Invalid or expired credentials"]);
  expect(await db.select({ name: users.name }).from(users)).toEqual([{ name: "owner" }]);
});

test("nor does one that changes the caller's password or onboarding", async () => {
  const { h, headers, db } = await owner();
  const before = await db.select().from(users);
  const change = { currentPassword: "password of owner", newPassword: "another password" };
  const sends = [
    await begin(h, "/api/me/password", headers, change),
    await begin(h, "/api/me/onboarding", headers, { late: true }, "PATCH"),
  ];
  await h.request("/api/auth/sign-out", { method: "POST", headers });
  for (const send of sends) expect(await send()).toEqual([401, "Invalid or expired credentials"]);
  expect(await db.select().from(users)).toEqual(before);
});

test("a request that stores nothing gets no answer either: a prompt's preview, and a turn in the playground", async () => {
  const { h, headers, db } = await owner();
  await h.request("/api/instances", { method: "POST", headers, json: { slug: "assistant" } });
  const { id, key } = await makeKey(h, headers);
  const preview = await begin(h, "/api/instances/assistant/prompts/preview", { Authorization: `Bearer ${key}` }, {});
  const said = { messages: [{ role: "user", content: "Hello" }] };
  const turn = await begin(h, "/api/instances/assistant/playground/stream", headers, said);
  await h.request(`${keys}/${id}`, { method: "DELETE", headers });
  await db.delete(members);
  expect(await preview()).toEqual([401, "Invalid or expired credentials"]);
  expect(await turn()).toEqual([404, "Organization not found"]);
  expect(await db.select().from(turns)).toEqual([]);
});

test("nor one whose role changed, or whose key was deleted", async () => {
  const { h, headers, db } = await owner();
  const { id, key } = await makeKey(h, headers);
  const byKey = await begin(h, "/api/instances", { Authorization: `Bearer ${key}` }, { slug: "by-key" });
  const byOwner = await begin(h, "/api/instances", headers, { slug: "by-owner" });
  await h.request(`${keys}/${id}`, { method: "DELETE", headers });
  await db.update(members).set({ roleKey: "viewer" });
  expect((await byKey())[0]).toBe(401);
  expect(await byOwner()).toEqual([403, "Your rights changed while this request was on its way: send it again"]);
});

test("nor one of a member who lost the workspace; one who keeps it goes through", async () => {
  const { h, db } = await owner();
  const { workspaceId } = h.organization;
  const headers = await h.as("member");
  const kept = await begin(h, "/api/instances", headers, { slug: "kept", workspaceId });
  expect((await kept())[0]).toBe(201);
  const lost = await begin(h, "/api/instances", headers, { slug: "lost", workspaceId });
  await db.delete(workspaceMembers).where(and(eq(workspaceMembers.workspaceId, workspaceId)));
  expect((await lost())[0]).toBe(403);
});
