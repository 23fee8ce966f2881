import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, agentTools, workspaceMembers, workspaces } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

interface Shown {
  name: string;
  enabled: boolean;
}

/** The agents `asker`, `helper` and `idle` of one workspace, the last one inactive, and `far` of another one. */
async function withAgents() {
  const h = await harness();
  const headers = await h.as("owner");
  const { db } = h.services.database;
  const [far = { id: "" }] = await db
    .insert(workspaces)
    .values({ id: newId(), organizationId: h.organization.id, name: "far" })
    .returning({ id: workspaces.id });
  const send = async (method: string, path: string, json?: unknown, as = headers) => {
    const answer = await h.request(path, { method, headers: as, ...(json === undefined ? {} : { json }) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const create = async (fields: object) => expect((await send("POST", "/api/instances", fields)).status).toBe(201);
  await create({ slug: "asker" });
  await create({ slug: "helper", name: "Helper", description: "Knows refunds." });
  await create({ slug: "idle", status: "inactive" });
  await create({ slug: "far", workspaceId: far.id });
  const choose = (enabled: string[], slug = "asker") => send("PATCH", `/api/instances/${slug}/tools`, { enabled });
  const offered = async (path: string, as = headers) => {
    const { tools } = (await send("GET", path, undefined, as)) as unknown as { tools: Shown[] };
    return tools.filter(({ name }) => name.startsWith("agent:"));
  };
  const revision = async (slug: string) => {
    const [row] = await db.select().from(agents).where(eq(agents.slug, slug));
    return row?.revision ?? 0;
  };
  /** The growth of these agents' revisions. */
  const growth = async (slugs: readonly string[], change: () => Promise<{ status: number }>) => {
    const before = await Promise.all(slugs.map(revision));
    const { status } = await change();
    expect([200, 201]).toContain(status);
    const after = await Promise.all(slugs.map(revision));
    return after.map((now, index) => now - (before[index] ?? 0));
  };
  return { ...h, db, headers, far, send, create, choose, offered, growth };
}

describe("agents as tools", () => {
  test("are in the catalogue as far as the caller reaches and they are active", async () => {
    const { as, db, far, offered, createOrganization, organization } = await withAgents();
    expect(await offered("/api/tools")).toEqual([
      expect.objectContaining({ name: "agent:asker", description: "Asks the agent asker" }),
      expect.objectContaining({ name: "agent:far" }),
      {
        name: "agent:helper",
        description: "Asks the agent Helper: Knows refunds.",
        category: "Agents",
        origin: "agent",
        requiredSecrets: [],
      },
    ]);
    const names = async (headers: Record<string, string>) =>
      (await offered("/api/tools", headers)).map(({ name }) => name);
    expect(await names(await as("viewer"))).toEqual(["agent:asker", "agent:helper"]);
    expect(await names(await as("viewer", { reach: false }))).toEqual([]);
    expect(await names(await as("owner", { organization: await createOrganization("other") }))).toEqual([]);
    const both = await as("member");
    const [member] = (await db.select().from(workspaceMembers)).slice(-1);
    if (!member || member.workspaceId !== organization.workspaceId) throw new Error("No member");
    await db.insert(workspaceMembers).values({ workspaceId: far.id, userId: member.userId });
    expect(await names(both)).toEqual(["agent:asker", "agent:far", "agent:helper"]);
  });

  test("are, for an agent, the other active ones of its workspace", async () => {
    const { choose, offered, send } = await withAgents();
    const of = async (slug: string) =>
      (await offered(`/api/instances/${slug}/tools`)).map(({ name, enabled }) => [name, enabled]);
    expect(await of("asker")).toEqual([["agent:helper", false]]);
    expect(await of("far")).toEqual([]);
    expect((await choose(["readSkill", "agent:helper"])).status).toBe(200);
    expect(await of("asker")).toEqual([["agent:helper", true]]);
    // The tool is off as long as the agent is inactive, and on again afterwards.
    await send("PATCH", "/api/instances/helper", { active: false });
    expect(await of("asker")).toEqual([]);
    await send("PATCH", "/api/instances/helper", { active: true });
    expect(await of("asker")).toEqual([["agent:helper", true]]);
  });

  test.each([
    "asker",
    "far",
    "idle",
    "nobody",
    "theirs",
    "HELPER",
    "helper ",
    "",
  ])("of the name %j can't be chosen", async (slug) => {
    const { choose, createOrganization, as, send } = await withAgents();
    const organization = await createOrganization("other");
    const theirs = { slug: "theirs", workspaceId: organization.workspaceId };
    expect((await send("POST", "/api/instances", theirs, await as("owner", { organization }))).status).toBe(201);
    expect(await choose(["readSkill", `agent:${slug}`])).toMatchObject({
      status: 400,
      message: `Unknown tools: agent:${slug}`,
    });
  });
});

describe("an agent that has an agent as a tool", () => {
  const path = "/api/instances/helper";

  test.each<[string, string, object | undefined]>([
    ["is switched off", "PATCH", { active: false }],
    ["has another name", "PATCH", { name: "Refunds" }],
    ["has another description", "PATCH", { description: "Knows more." }],
    ["is deleted", "DELETE", undefined],
  ])("loads anew when it %s; nobody else does", async (_, method, json) => {
    const { send, choose, growth } = await withAgents();
    await choose(["agent:helper"]);
    expect(await growth(["asker", "idle", "far"], () => send(method, path, json))).toEqual([1, 0, 0]);
  });

  test("loads anew when that moves, and when it is created again", async () => {
    const { send, choose, growth, create, far } = await withAgents();
    await choose(["agent:helper"]);
    const slugs = ["asker", "helper", "far"];
    expect(await growth(slugs, () => send("PATCH", path, { workspaceId: far.id }))).toEqual([1, 1, 0]);
    expect(await growth(slugs, () => send("PATCH", path, { status: "inactive" }))).toEqual([1, 1, 0]);
    await send("DELETE", path);
    const again = async () => {
      await create({ slug: "helper" });
      return { status: 201 };
    };
    expect(await growth(["asker", "far"], again)).toEqual([1, 0]);
  });

  test("does not load anew for fields the tool doesn't show, nor for an agent of another organization", async () => {
    const { send, choose, growth, createOrganization, as, db } = await withAgents();
    await choose(["agent:helper"]);
    expect(await growth(["asker"], () => send("PATCH", path, { timezone: "Europe/Zurich" }))).toEqual([0]);
    const organization = await createOrganization("other");
    const theirs = { slug: "theirs", workspaceId: organization.workspaceId };
    await send("POST", "/api/instances", theirs, await as("owner", { organization }));
    const [row] = await db.select().from(agents).where(eq(agents.slug, "theirs"));
    await db.insert(agentTools).values({ agentId: row?.id ?? "", name: "agent:helper", source: "manual" });
    expect(await growth(["theirs"], () => send("DELETE", path))).toEqual([0]);
  });

  test("loads anew though a skill has it so, which is then unavailable", async () => {
    const { send, growth, organization } = await withAgents();
    const catalogue = "/api/organizations/acme/skills";
    const skill = { name: "Ask", description: "Asks.", content: "Ask.", requiredTools: ["agent:helper"] };
    await send("POST", catalogue, skill);
    await send("PUT", `/api/organizations/acme/workspaces/${organization.workspaceId}/skills/ask`);
    await send("PATCH", "/api/instances/asker/skills", { enabled: ["ask"] });
    const missing = async () =>
      (await send("GET", "/api/instances/asker/skills")).skills.map(
        (one: { missingTools: string[] }) => one.missingTools,
      );
    expect(await missing()).toEqual([[]]);
    expect(await growth(["asker", "idle"], () => send("PATCH", path, { active: false }))).toEqual([1, 0]);
    expect(await missing()).toEqual([["agent:helper"]]);
    expect(await growth(["asker"], () => send("PATCH", path, { active: true }))).toEqual([1]);
    expect(await missing()).toEqual([[]]);
  });

  test("may have it in a circle, and both may change at once", async () => {
    const { send, choose, growth } = await withAgents();
    await choose(["agent:helper"]);
    await choose(["agent:asker"], "helper");
    const both = () =>
      Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          send("PATCH", `/api/instances/${index % 2 === 0 ? "asker" : "helper"}`, { name: `Name ${index}` }),
        ),
      );
    const grown = await growth(["asker", "helper"], async () => {
      for (const { status } of await both()) expect(status).toBe(200);
      return { status: 200 };
    });
    expect(grown).toEqual([8, 8]);
  });
});
