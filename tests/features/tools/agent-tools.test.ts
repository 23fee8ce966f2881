import { describe, expect, test } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, agentTools, plugins } from "../../../src/db/schema.ts";
import { type Harness, harness } from "../../harness.ts";

interface Shown {
  name: string;
  enabled: boolean;
  source: string | null;
  needsApproval: boolean;
}

async function withAgent() {
  const h = await harness();
  const { slug, headers } = await h.agent();
  const path = `/api/instances/${slug}/tools`;
  const list = async () => ((await (await h.request(path, { headers })).json()) as { tools: Shown[] }).tools;
  const save = (json: object) => h.request(path, { method: "PATCH", headers, json });
  const on = async () => (await list()).filter(({ enabled }) => enabled).map(({ name }) => name);
  return { ...h, slug, headers, list, save, on };
}

/** Gives the agent the tool as a skill that requires the tool does. */
async function requireBySkill({ services }: Harness, name: string): Promise<void> {
  const [agent] = await services.database.db.select({ id: agents.id }).from(agents);
  if (!agent) throw new Error("There is no agent");
  await services.database.db.insert(agentTools).values({ agentId: agent.id, name, source: "skill" });
}

describe("an agent's tools", () => {
  test("are all its possible ones; a new agent reads skills", async () => {
    const h = await withAgent();
    const tools = await h.list();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["readSkill", "runSkillScript", "currentTime", "httpRequest"],
      ...["saveMemory", "searchMemory", "getState", "setState", "scheduleTask"],
    ]);
    expect(tools[0]).toEqual({
      name: "readSkill",
      description: expect.any(String),
      category: "Skills",
      origin: "builtin",
      source: "manual",
      enabled: true,
      needsApproval: false,
      requiredSecrets: [],
      missingSecrets: [],
    });
    expect(tools[3]).toMatchObject({ enabled: false, source: null });
  });

  test("are exactly those of the last request", async () => {
    const h = await withAgent();
    expect((await h.save({ enabled: ["httpRequest", "currentTime", "httpRequest"] })).status).toBe(200);
    expect(await h.on()).toEqual(["currentTime", "httpRequest"]);
    await h.save({ enabled: [] });
    expect(await h.on()).toEqual([]);
  });

  test("ask for approval as named, keep it when it is left out, and lose it with the tool", async () => {
    const h = await withAgent();
    const asking = async () => (await h.list()).filter((tool) => tool.needsApproval).map(({ name }) => name);
    await h.save({ enabled: ["httpRequest", "currentTime"], needsApproval: ["httpRequest"] });
    expect(await asking()).toEqual(["httpRequest"]);
    await h.save({ enabled: ["httpRequest"] });
    expect(await asking()).toEqual(["httpRequest"]);
    await h.save({ enabled: ["currentTime"] });
    await h.save({ enabled: ["httpRequest"] });
    expect(await asking()).toEqual([]);
  });

  test("are in the audit log with the change of which ask for approval", async () => {
    const h = await withAgent();
    await requireBySkill(h, "currentTime");
    await h.save({
      enabled: ["httpRequest", "currentTime", "readSkill"],
      needsApproval: ["httpRequest", "currentTime"],
    });
    await h.save({ enabled: ["httpRequest", "currentTime"] });
    await h.save({ enabled: ["httpRequest", "currentTime"], needsApproval: ["currentTime"] });
    await h.save({ enabled: ["httpRequest", "currentTime"], needsApproval: ["httpRequest"] });
    await h.save({ enabled: ["currentTime"] });
    const answer = await h.request("/api/audit-logs?action=agent.tool.update", { headers: h.headers });
    const { items } = (await answer.json()) as { items: { details: object }[] };
    const both = ["currentTime", "httpRequest"];
    const all = [...both, "readSkill"];
    const fromTo = (from: string[], to: string[]) => ({ from, to });
    expect(items.map(({ details }) => details).reverse()).toEqual([
      {
        changes: { enabled: fromTo(["currentTime", "readSkill"], all), needsApproval: fromTo([], both) },
        approvalRemoved: [],
      },
      { changes: { enabled: fromTo(all, both) }, approvalRemoved: [] },
      { changes: { needsApproval: fromTo(both, ["currentTime"]) }, approvalRemoved: ["httpRequest"] },
      { changes: { needsApproval: fromTo(["currentTime"], ["httpRequest"]) }, approvalRemoved: ["currentTime"] },
      {
        changes: { enabled: fromTo(both, ["currentTime"]), needsApproval: fromTo(["httpRequest"], []) },
        approvalRemoved: ["httpRequest"],
      },
    ]);
  });

  test("that a skill requires stay on, and may ask for approval", async () => {
    const h = await withAgent();
    await requireBySkill(h, "httpRequest");
    const refused = await h.save({ enabled: ["currentTime"] });
    expect([refused.status, (await refused.json()).message]).toEqual([
      400,
      "An enabled skill requires httpRequest: disable the skill first, or leave the tool on",
    ]);
    expect(await h.on()).toEqual(["readSkill", "httpRequest"]);
    await h.save({ enabled: ["httpRequest"], needsApproval: ["httpRequest"] });
    const required = (await h.list()).find(({ name }) => name === "httpRequest");
    expect(required).toMatchObject({ source: "skill", enabled: true, needsApproval: true });
  });

  test.each([
    [{ enabled: ["nope", "httpRequest", "nope"] }, "Unknown tools: nope"],
    [{ enabled: ["ghIssue"] }, "Unknown tools: ghIssue"],
    [
      { enabled: ["currentTime"], needsApproval: ["httpRequest"] },
      "needsApproval names tools that are off: httpRequest",
    ],
    [{ enabled: "all" }, /enabled/],
    [{}, /enabled/],
  ])("%j changes nothing", async (json, message) => {
    const h = await withAgent();
    const refused = await h.save(json);
    const { message: said } = (await refused.json()) as { message: string };
    expect(refused.status).toBe(400);
    expect(said).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
    expect(await h.on()).toEqual(["readSkill"]);
  });

  test("with those of the organization's plugins, and of nobody else's", async () => {
    const h = await withAgent();
    const other = await h.createOrganization("other");
    const plugin = (organizationId: string, namespace: string, enabled = true) => ({
      id: newId(),
      organizationId,
      namespace,
      kind: "mcp",
      enabled,
      keyId: "k",
      config: new Uint8Array([1]),
      tools: [{ name: "find", description: "Finds.", inputSchema: { type: "object" } }],
    });
    await h.services.database.db
      .insert(plugins)
      .values([plugin(h.organization.id, "shop"), plugin(h.organization.id, "off", false), plugin(other.id, "theirs")]);
    const catalogue = (await (await h.request("/api/tools", { headers: h.headers })).json()) as { tools: Shown[] };
    const contributed = catalogue.tools.map(({ name }) => name).filter((name) => name.includes(":"));
    expect(contributed).toEqual(["shop:find", `agent:${h.slug}`]);
    expect((await h.save({ enabled: ["shop:find"] })).status).toBe(200);
    for (const name of ["theirs:find", "off:find", "shop:lose"]) {
      expect((await h.save({ enabled: [name] })).status, name).toBe(400);
    }
    expect(await h.on()).toEqual(["shop:find"]);
    const secrets = await h.request(`/api/instances/${h.slug}/tools/required-secrets`, { headers: h.headers });
    expect(await secrets.json()).toEqual({ requiredSecrets: [] });
  });
});
