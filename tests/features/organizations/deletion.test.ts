import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, auditLogs, files, organizations, roomEvents, skills } from "../../../src/db/schema.ts";
import { linkTo } from "../../../src/features/files/links.ts";
import { compare, takeSnapshot } from "../../contract/rows.ts";
import { type Harness, harness, managedEdition } from "../../harness.ts";
import { reply, scriptedModel } from "../../scripted-model.ts";
import { eventually, readUntil } from "../chat/chat.ts";
import { plant } from "../retention/world.ts";
import { auditOf, type Headers, managementKey, refusal } from "./callers.ts";

const path = "/api/organizations";

const remove = (h: Harness, headers: Headers, slug: string, confirm: unknown = slug) =>
  h.request(`${path}/${slug}`, { method: "DELETE", headers, json: { confirm } });

/** A second organization with an agent that has conversations, and its Owner. */
async function world() {
  const h = await harness({ edition: managedEdition, model: scriptedModel(() => reply("Hello.")) });
  const { db } = h.services.database;
  const other = await h.createOrganization("other");
  const owner = await h.as("owner", { organization: other });
  const send = async (method: string, address: string, json: object) => {
    const response = await h.request(address, { method, headers: owner, json });
    expect(response.ok).toBe(true);
  };
  const agent = async (slug: string) => {
    await send("POST", "/api/instances", { slug, provider: "openai", model: "gpt-x" });
    const config = { apiKey: `key-of-${slug}-0123456789` };
    await send("PUT", `/api/instances/${slug}/channels/web`, { config, enabled: true });
    const [row] = await db.select({ agentId: agents.id }).from(agents).where(eq(agents.slug, slug));
    return { slug, organizationId: other.id, agentId: row?.agentId ?? "" };
  };
  const ask = (slug: string) =>
    h.request(`/api/instances/${slug}/chat/stream`, {
      method: "POST",
      headers: { Authorization: `Bearer key-of-${slug}-0123456789` },
      json: { messages: [{ role: "user", content: "Hi" }] },
    });
  /** Runs the jobs until the organization's rows are deleted. */
  const finish = () =>
    eventually(async () => {
      await h.engine.tick();
      return (await db.$count(organizations, eq(organizations.id, other.id))) === 0;
    });
  return { h, db, other, owner, send, agent, ask, finish };
}

describe("deleting an organization", () => {
  test("needs its slug, a signed-in Owner, and another one before it", async () => {
    const { h, other, owner } = await world();
    const refused = (...given: Parameters<typeof remove>) => refusal(remove(...given));
    const session = [403, "This route needs a signed-in session"];
    expect(await refused(h, await managementKey(h, other), "other")).toEqual(session);
    const admin = await h.as("admin", { organization: other });
    expect(await refused(h, admin, "other")).toEqual([403, "Missing permission: org:write"]);
    for (const confirm of ["Other", "", "acme"]) {
      expect(await refused(h, owner, "other", confirm)).toEqual([400, "confirm: must be the organization's slug"]);
    }
    expect((await remove(h, owner, "other", 1)).status).toBe(400);
    expect(await refused(h, await h.as("owner"), "acme")).toEqual([409, "The first organization stays"]);
    expect(await refused(h, await h.as("owner"), "other")).toEqual([404, "Organization not found"]);
    const deleted = await h.services.database.db.$count(organizations, eq(organizations.slug, "other"));
    expect([deleted, (await auditOf(h)).filter(({ success }) => success)]).toEqual([1, []]);
  });

  test("ends every access at once, and streams within two seconds", async () => {
    const { h, other, owner, agent, ask } = await world();
    const { slug } = await agent("helper");
    const [key, admin] = [await managementKey(h, other), await h.asPlatformAdmin()];
    const inside = { ...admin, "X-Organization": "other" };
    expect((await ask(slug)).status).toBe(200);
    const { reader } = await readUntil(await h.request("/api/activity-stream", { headers: owner }), (text) =>
      text.includes("\n\n"),
    );

    expect(await (await remove(h, inside, "other")).json()).toEqual({ deleted: true });
    await h.engine.closeRevoked();
    for (let ended = false; !ended; ) ended = (await reader.read()).done;
    expect(await refusal(h.request(`${path}/other`, { headers: owner }))).toEqual([404, "Organization not found"]);
    expect((await h.request("/api/instances", { headers: key })).status).toBe(401);
    expect(await refusal(h.request("/api/instances", { headers: inside }))).toEqual([404, "Organization not found"]);
    expect(await refusal(ask(slug))).toEqual([404, "Unknown model"]);
    expect(await refusal(remove(h, inside, "other"))).toEqual([404, "Organization not found"]);
    const { organizations: listed } = await (await h.request(path, { headers: admin })).json();
    expect(listed.map((one: { slug: string }) => one.slug)).toEqual(["acme"]);
    const me = await (await h.request("/api/me", { headers: owner })).json();
    expect(me.user.organizations).toEqual([]);
  });

  test("closes the links to its files and the webhooks of its Rooms at once", async () => {
    const { h, db, other, owner, send, agent } = await world();
    const helper = await agent("helper");
    await send("PUT", "/api/instances/helper/room", { enabled: true });
    const source = await h.request("/api/instances/helper/event-sources", {
      method: "POST",
      headers: owner,
      json: { name: "Shop", sourceType: "webhook" },
    });
    const [hook = ""] = /\/webhooks\/[\w-]+/.exec(await source.text()) ?? [];
    const { fileId } = await plant({ db }, helper, 1);
    const [file] = await db.select().from(files).where(eq(files.id, fileId));
    if (!file) throw new Error("No file was planted");
    const { pathname, search } = new URL((await linkTo(h.services, file)).url);
    const opened = async () => {
      const [link, event] = [
        await h.request(`${pathname}${search}`, { method: "HEAD" }),
        await h.request(hook, { method: "POST", json: { order: 1 } }),
      ];
      return [link.status, await event.json(), await db.$count(roomEvents, eq(roomEvents.agentId, helper.agentId))];
    };
    const [, answer, before] = await opened();
    expect(answer).toMatchObject({ ok: true });
    expect((await remove(h, await h.asPlatformAdmin(), other.slug)).status).toBe(200);
    expect(await opened()).toEqual([404, { ok: false, error: "unknown token" }, before]);
  });

  test("leaves nothing but accounts and audit entries, and deletes no row of others", async () => {
    const { h, db, other, owner, send, agent, ask, finish } = await world();
    const neighbour = await h.agent();
    const [own] = await db.select().from(agents).where(eq(agents.slug, neighbour.slug));
    await plant(h.services.database, { ...neighbour, agentId: own?.id ?? "", organizationId: h.organization.id }, 1);
    const before = await takeSnapshot(h.services.database);

    const made = [await agent("first-helper"), await agent("second-helper")];
    for (const one of made) {
      expect((await ask(one.slug)).status).toBe(200);
      await plant(h.services.database, one, 1);
    }
    await db.insert(skills).values({ organizationId: other.id, slug: "greet", name: "Greet" });
    await send("PUT", `${path}/other/retention`, { policies: [{ subject: "files", enabled: true, days: 1 }] });
    expect((await remove(h, owner, "other")).status).toBe(200);
    // A request that was admitted before.
    const late = { id: newId(), slug: "late", name: "Late", organizationId: other.id, workspaceId: other.workspaceId };
    await db.insert(agents).values(late);
    await finish();

    const changes = compare(before, await takeSnapshot(h.services.database));
    // Entries of the audit log stay, and jobs delete the bytes of files. Roll-ups and indexing go on for the neighbour.
    const kept = ["audit_logs", "files", "jobs"];
    const ids = [other.id, late.id, ...made.map(({ agentId }) => agentId)];
    const left = changes.filter(({ table, after }) => after !== null && !kept.includes(table));
    expect(left.filter(({ after }) => ids.some((id) => JSON.stringify(after).includes(id)))).toEqual([]);
    const deleted = changes.filter(({ after }) => after === null).map(({ table }) => table);
    expect(deleted.sort()).toEqual(["members", "organizations", "workspace_members", "workspaces"]);
    const entries = await db.select().from(auditLogs).orderBy(auditLogs.createdAt, auditLogs.id);
    const ofOther = entries.filter(({ summary }) => summary.organizationId === other.id);
    expect(new Set(ofOther.map(({ organizationId }) => organizationId))).toEqual(new Set([null]));
    expect(ofOther.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["agent.create", "retention.update", "organization.delete", "agent.delete"]),
    );
    expect(
      (await h.request(path, { method: "POST", headers: await h.asPlatformAdmin(), json: { slug: "other" } })).status,
    ).toBe(201);
  });
});
