import { expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { members, organizations, users, workspaceMembers } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

const mixed = ["zoe", "Émile", "eve", "Zoé", "adam", "Österreich", "Oslo", "Emil", "öde"];
const sorted = ["adam", "Emil", "Émile", "eve", "öde", "Oslo", "Österreich", "zoe", "Zoé"];

test("every list by name sorts accented letters next to the plain ones, whatever the case and the database", async () => {
  const h = await harness();
  const headers = await h.as("owner");
  const { db } = h.services.database;
  const me = (await (await h.request("/api/me", { headers })).json()).user;
  for (const [index, name] of mixed.entries()) {
    const [userId, organizationId] = [newId(), newId()];
    await db.insert(users).values({ id: userId, email: `${index}@example.com`, name });
    await db.insert(members).values({ organizationId: h.organization.id, userId, roleKey: "viewer" });
    await db.insert(workspaceMembers).values({ workspaceId: h.organization.workspaceId, userId });
    await db.insert(organizations).values({ id: organizationId, slug: `o${index}`, name });
    await db.insert(members).values({ organizationId, userId: me.id, roleKey: "viewer" });
    const make = (path: string, json: unknown) => h.request(path, { method: "POST", headers, json });
    const made = await Promise.all([
      make("/api/instances", { slug: `a${index}`, name }),
      make("/api/organizations/acme/workspaces", { name }),
      make("/api/organizations/acme/skills", { name, description: "What for", content: "How" }),
    ]);
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  }
  const names = async (path: string, list: string) => {
    const body = await (await h.request(path, { headers })).json();
    const shown: string[] = (body.user ?? body)[list].map(({ name }: { name: string }) => name);
    return shown.filter((name) => mixed.includes(name));
  };
  const acme = "/api/organizations/acme";
  for (const [path, list] of [
    ["/api/instances", "instances"],
    ["/api/organizations", "organizations"],
    ["/api/me", "organizations"],
    [`${acme}/members`, "members"],
    [`${acme}/workspaces`, "workspaces"],
    [`${acme}/workspaces/${h.organization.workspaceId}/members`, "members"],
    [`${acme}/skills`, "skills"],
  ] as const) {
    expect(await names(path, list), path).toEqual(sorted);
  }
});
