import { and, desc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { agentSkills, agentTools, auditLogs } from "../../../src/db/schema.ts";
import type { AgentSkill, AgentSkillsChanged } from "../../../src/features/skills/agent/schema.ts";
import { agentRow, catalogue, type Fields, kitchen, read, refunds, refusal, skillTools } from "./skills.ts";

/** A kitchen with the agent `bot`, and short forms for it. */
async function withBot() {
  const k = await kitchen();
  await k.agent("bot");
  const url = "/api/instances/bot/skills";
  const list = async () => (await read<{ skills: AgentSkill[] }>(k.send("GET", url))).skills;
  const one = async (name: string) => (await list()).find((skill) => skill.name === name);
  const enabled = async () => (await list()).filter((skill) => skill.enabled).map(({ name }) => name);
  const set = (names: unknown) => read<AgentSkillsChanged>(k.enable("bot", names));
  const act = (skill: string, verb: string, json?: unknown) => k.send("POST", `${url}/${skill}/${verb}`, json);
  const save = (fields: Fields = {}, slug = "refunds") =>
    read(k.send("PUT", `${catalogue}/${slug}`, { ...refunds, name: undefined, ...fields }));
  const revision = async () => (await agentRow(k.h, "bot")).revision;
  return { ...k, url, list, one, enabled, set, act, save, revision };
}

const bare = {
  name: "refunds",
  displayName: "Refunds",
  description: refunds.description,
  category: "general",
  requiredEnv: [],
  requiredTools: [],
  enabled: false,
  allowed: true,
  autoLoad: false,
  envConfigured: true,
  pinnedVersion: null,
  currentVersion: "0.1.0",
  hasUpdate: false,
  missingEnv: [],
  missingTools: [],
};

describe("an agent's skills", () => {
  it("are what the workspace allows; a new skill is allowed nowhere", async () => {
    const { create, allow, list } = await withBot();
    await create();
    expect(await list()).toEqual([]);
    await allow("refunds");
    expect(await list()).toEqual([bare]);
  });

  it("become exactly the set that is given, by slug or name", async () => {
    const { offer, set, enabled } = await withBot();
    for (const name of ["Refunds", "My Skill!", "Third"]) await offer({ name });
    const { skills } = await set(["refunds", "My Skill!", "my-skill-"]);
    expect(skills.map(({ name, enabled: on }) => [name, on])).toEqual([
      ["my-skill-", true],
      ["refunds", true],
      ["third", false],
    ]);
    await set(["Third"]);
    expect(await enabled()).toEqual(["third"]);
    await set([]);
    expect(await enabled()).toEqual([]);
  });

  it("refuse what is unknown or not allowed, and stay as they were", async () => {
    const { h, create, offer, enable, set, enabled, revision, send, disallow } = await withBot();
    await offer();
    await create({ name: "Hidden" });
    await set(["refunds"]);
    const other = await h.createOrganization("globex");
    const stranger = await h.as("owner", { organization: other });
    await send("POST", "/api/organizations/globex/skills", { ...refunds, name: "Theirs" }, stranger);
    const before = await revision();
    const wrong: [unknown, string][] = [
      [["refunds", "nothing", "theirs"], "enabled: not in the catalogue: nothing, theirs"],
      [["refunds", "REFUNDS"], "enabled: not in the catalogue: REFUNDS"],
      [["Hidden"], "enabled: not allowed in the agent's workspace: hidden"],
      [["x", "hidden"], "enabled: not in the catalogue: x; enabled: not allowed in the agent's workspace: hidden"],
      [['a"b\\c,{}'], 'enabled: not in the catalogue: a"b\\c,{}'],
      ["refunds", "enabled: "],
      [[5], "enabled.0: "],
      [["\0"], "enabled.0: must not contain NUL"],
      [undefined, "enabled: "],
    ];
    for (const [names, message] of wrong) {
      const [status, said] = await refusal(enable("bot", names));
      expect([names, status, said.startsWith(message)]).toEqual([names, 400, true]);
    }
    expect([await enabled(), await revision()]).toEqual([["refunds"], before]);
    await disallow("refunds");
    expect(await refusal(enable("bot", ["refunds"]))).toEqual([
      400,
      "enabled: not allowed in the agent's workspace: refunds",
    ]);
  });

  it("pin the version they were enabled in, until they are upgraded", async () => {
    const { offer, set, save, one, act } = await withBot();
    await offer({ requiredEnv: [{ name: "OLD", sensitive: true }] });
    await set(["refunds"]);
    await save({ description: "New." });
    await set(["refunds"]);
    const pinned = { pinnedVersion: "0.1.0", currentVersion: "0.2.0", hasUpdate: true };
    expect(await one("refunds")).toMatchObject({ ...pinned, description: refunds.description, missingEnv: ["OLD"] });
    const answer = await act("refunds", "upgrade");
    expect([answer.status, await answer.json()]).toEqual([
      201,
      {
        upgraded: true,
        skill: { ...bare, description: "New.", enabled: true, pinnedVersion: "0.2.0", currentVersion: "0.2.0" },
      },
    ]);
    expect((await act("refunds", "upgrade")).status).toBe(201);
    expect(await read(act("refunds", "rollback"))).toMatchObject({ skill: { pinnedVersion: "0.1.0" } });
  });

  it("pin the current version when they are enabled anew, and can go back", async () => {
    const { offer, set, save, one, act } = await withBot();
    await offer();
    await set(["refunds"]);
    await save();
    await set([]);
    expect(await one("refunds")).toMatchObject({ pinnedVersion: null, hasUpdate: false });
    await set(["refunds"]);
    expect(await one("refunds")).toMatchObject({ pinnedVersion: "0.2.0" });
    expect(await read(act("refunds", "rollback"))).toMatchObject({ skill: { pinnedVersion: "0.1.0" } });
  });

  it("roll back to the version pinned before, or to one named by id or number", async () => {
    const { offer, set, save, act, send } = await withBot();
    await offer();
    await set(["refunds"]);
    for (let n = 0; n < 3; n += 1) await save();
    await act("refunds", "upgrade");
    const back = async (json?: unknown) =>
      (await read<{ rolledBack: true; skill: AgentSkill }>(act("refunds", "rollback", json))).skill.pinnedVersion;
    expect([await back(), await back(), await back({})]).toEqual(["0.1.0", "0.4.0", "0.1.0"]);
    const { versions } = await read<{ versions: { id: string }[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(await back({ versionId: "0.2.0" })).toBe("0.2.0");
    expect(await back({ versionId: versions[1]?.id.toUpperCase() })).toBe("0.3.0");
    expect(await back({ versionId: "0.3.0" })).toBe("0.3.0");
    expect(await back()).toBe("0.2.0");
  });

  it("answer what can't be rolled back, upgraded or loaded", async () => {
    const { offer, set, act, send, url } = await withBot();
    await offer();
    await offer({ name: "Other" });
    for (const verb of ["upgrade", "rollback", "auto-load"]) {
      expect(await refusal(act("refunds", verb))).toEqual([400, "The agent has refunds not enabled: enable it first"]);
      for (const name of ["nothing", "Refunds", "%00"])
        expect(await refusal(act(name, verb))).toEqual([404, "Skill not found"]);
      expect(await refusal(send("POST", `/api/instances/nobody/skills/refunds/${verb}`))).toEqual([
        404,
        "Agent not found",
      ]);
    }
    const { skills } = await set(["refunds", "other"]);
    expect(skills).toHaveLength(2);
    expect(await refusal(act("refunds", "rollback"))).toEqual([
      400,
      "versionId: no other version was pinned before: name one by id or number",
    ]);
    const { versions } = await read<{ versions: { id: string }[] }>(send("GET", `${catalogue}/other/versions`));
    for (const versionId of ["0.9.0", "latest", "", versions[0]?.id]) {
      expect(await refusal(act("refunds", "rollback", { versionId }))).toEqual([
        400,
        "versionId: the skill has no version with this id or number",
      ]);
    }
    expect((await act("refunds", "rollback", { versionId: 5 })).status).toBe(400);
    expect((await act("refunds", "auto-load", { autoLoad: "yes" })).status).toBe(400);
    expect((await send("DELETE", `${url}/refunds`)).status).toBe(404);
  });

  it("take no version that requires tools which the organization does not have", async () => {
    const { send, allow, set, one, act } = await withBot();
    const numbered = (version: string, ...requiredTools: string[]) => ({ ...refunds, version, requiredTools });
    const versions = [numbered("0.1.0", "gone:tool", "httpRequest"), numbered("0.2.0")];
    await read(send("POST", `${catalogue}/catalog/import`, { skills: [{ ...refunds, versions }] }));
    await allow("refunds");
    await set(["refunds"]);
    expect(await refusal(act("refunds", "rollback", { versionId: "0.1.0" }))).toEqual([
      400,
      "Version 0.1.0 requires tools that this organization does not have: gone:tool",
    ]);
    expect(await one("refunds")).toMatchObject({ pinnedVersion: "0.2.0", missingTools: [] });
  });

  it("load themselves when told to, set or turned round, and keep that when they are off", async () => {
    const { h, headers, url, offer, set, act, one } = await withBot();
    await offer();
    await set(["refunds"]);
    const turn = async (json?: unknown) => {
      const answer = await act("refunds", "auto-load", json);
      return [answer.status, await answer.json()];
    };
    expect(await turn()).toEqual([201, { autoLoad: true }]);
    expect(await turn({})).toEqual([201, { autoLoad: false }]);
    for (const type of ["application/json", "application/json ; charset=utf-8", "text/plain"]) {
      const answer = await h.request(`${url}/refunds/auto-load`, {
        method: "POST",
        headers: { ...headers, "Content-Type": type },
      });
      expect([type, answer.status]).toEqual([type, 201]);
    }
    const sent = async (type: string) => {
      const init = { method: "POST", headers: { ...headers, "Content-Type": type }, body: '{ "autoLoad": false }' };
      return (await h.request(`${url}/refunds/auto-load`, init)).status;
    };
    expect([await sent("application/json ; charset=utf-8"), await sent("text/plain")]).toEqual([201, 415]);
    expect(await turn({ autoLoad: true })).toEqual([201, { autoLoad: true }]);
    expect(await turn({ autoLoad: true })).toEqual([201, { autoLoad: true }]);
    await set([]);
    await set(["refunds"]);
    expect(await one("refunds")).toMatchObject({ autoLoad: true });
  });

  it("end with one of the sets that come at once", async () => {
    const { offer, enable, enabled } = await withBot();
    for (const name of ["A", "B", "C"]) await offer({ name });
    const sets = [["a", "b"], ["b", "c"], ["c", "a"], []];
    const answers = await Promise.all(sets.map((names) => enable("bot", names)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(sets.map((names) => [...names].sort())).toContainEqual(await enabled());
  });
});

describe("the tools that skills require", () => {
  it("come and go with them, and the answer says which", async () => {
    const { h, offer, set } = await withBot();
    await offer({ name: "A", requiredTools: ["httpRequest", "currentTime"] });
    await offer({ name: "B", requiredTools: ["currentTime", "readSkill"] });
    const changes = async (names: string[]) => (await set(names)).toolsChanged;
    // `readSkill` is on already, by the agent's own set.
    expect(await changes(["a", "b"])).toEqual({ enabled: ["currentTime", "httpRequest"], disabled: [] });
    expect(await skillTools(h, "bot")).toEqual(["currentTime", "httpRequest", "readSkill"]);
    expect(await changes(["a", "b"])).toEqual({ enabled: [], disabled: [] });
    expect(await changes(["b"])).toEqual({ enabled: [], disabled: ["httpRequest"] });
    expect(await changes([])).toEqual({ enabled: [], disabled: ["currentTime"] });
    expect(await skillTools(h, "bot")).toEqual([]);
  });

  it("are those of the pinned version", async () => {
    const { h, offer, set, save, act } = await withBot();
    await offer({ requiredTools: ["httpRequest"] });
    await set(["refunds"]);
    await save({ requiredTools: ["currentTime"] });
    expect(await skillTools(h, "bot")).toEqual(["httpRequest"]);
    await act("refunds", "upgrade");
    expect(await skillTools(h, "bot")).toEqual(["currentTime"]);
    await act("refunds", "rollback");
    expect(await skillTools(h, "bot")).toEqual(["httpRequest"]);
  });

  it("keep their approval setting while a skill requires them", async () => {
    const { h, offer, set } = await withBot();
    const { db } = h.services.database;
    await offer({ requiredTools: ["httpRequest"] });
    await set(["refunds"]);
    const { id } = await agentRow(h, "bot");
    const row = and(eq(agentTools.agentId, id), eq(agentTools.name, "httpRequest"));
    await db.update(agentTools).set({ needsApproval: true }).where(row);
    await offer({ name: "Other", requiredTools: ["httpRequest"] });
    await set(["other"]);
    expect(await db.select().from(agentTools).where(row)).toMatchObject([{ source: "skill", needsApproval: true }]);
  });

  it("are missing when the organization has them no longer", async () => {
    const { agent, offer, set, one, send } = await withBot();
    await agent("helper");
    await offer({ requiredTools: ["agent:helper", "httpRequest"] });
    await set(["refunds"]);
    expect(await one("refunds")).toMatchObject({ missingTools: [] });
    await send("DELETE", "/api/instances/helper");
    expect(await one("refunds")).toMatchObject({ missingTools: ["agent:helper"] });
  });
});

describe("a skill removed from the catalogue or the allow-list", () => {
  it("is removed from the agents, with the tools, under a new revision", async () => {
    const { h, agent, offer, set, enable, send, list, revision } = await withBot();
    await agent("idle");
    await agent("second");
    await offer({ requiredTools: ["httpRequest"] });
    await set(["refunds"]);
    await enable("second", ["refunds"]);
    const [before, idle] = [await revision(), (await agentRow(h, "idle")).revision];
    expect((await send("DELETE", `${catalogue}/refunds`)).status).toBe(200);
    expect([await list(), await skillTools(h, "bot"), await skillTools(h, "second")]).toEqual([[], [], []]);
    expect([await revision(), (await agentRow(h, "idle")).revision]).toEqual([before + 1, idle]);
    const [entry] = await h.services.database.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.action, "skill.delete"))
      .orderBy(desc(auditLogs.createdAt));
    expect(entry?.summary).toEqual({ agents: ["bot", "second"] });
    await offer();
    expect(await list()).toMatchObject([{ name: "refunds", enabled: false, autoLoad: false }]);
  });

  it("stays enabled but is not allowed, until it is allowed again", async () => {
    const { h, offer, set, one, allow, disallow, revision } = await withBot();
    await offer({ requiredTools: ["httpRequest"] });
    await set(["refunds"]);
    const before = await revision();
    const answer = await disallow("refunds");
    expect([answer.status, await answer.json()]).toEqual([200, { deleted: true }]);
    expect(await one("refunds")).toMatchObject({ enabled: true, allowed: false });
    expect([await skillTools(h, "bot"), await revision()]).toEqual([[], before + 1]);
    expect((await disallow("refunds")).status).toBe(200);
    const again = await allow("refunds");
    expect([again.status, await again.json()]).toEqual([200, { allowed: true }]);
    expect(await one("refunds")).toMatchObject({ enabled: true, allowed: true });
    expect(await skillTools(h, "bot")).toEqual(["httpRequest"]);
    expect((await allow("refunds")).status).toBe(200);
  });

  it("never leaves a deleted skill enabled, in either order", async () => {
    const { h, offer, enable, send, disallow, one } = await withBot();
    const { db } = h.services.database;
    for (let round = 0; round < 5; round += 1) {
      await offer({ name: "Gone", requiredTools: ["httpRequest"] });
      const answers = await Promise.all([enable("bot", ["gone"]), send("DELETE", `${catalogue}/gone`)]);
      expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([200, 400]), 200]);
      expect(await db.select().from(agentSkills)).toEqual([]);
      expect(await skillTools(h, "bot")).toEqual([]);
    }
    await offer({ requiredTools: ["httpRequest"] });
    await Promise.all([enable("bot", ["refunds"]), disallow("refunds")]);
    expect((await one("refunds"))?.allowed ?? false).toBe(false);
    expect(await skillTools(h, "bot")).toEqual([]);
  });
});

describe("the allow-list of a workspace", () => {
  const url = (workspaceId: string, slug = "") => `/api/organizations/acme/workspaces/${workspaceId}/skills${slug}`;

  it("lists slugs, and begins empty", async () => {
    const { h, offer, send } = await kitchen();
    const path = url(h.organization.workspaceId);
    expect(await read(send("GET", path))).toEqual({ skills: [] });
    await offer({ name: "B" });
    await offer({ name: "A" });
    expect(await read(send("GET", path))).toEqual({ skills: ["a", "b"] });
  });

  it("is for those who assign workspaces", async () => {
    const { h, create, send } = await kitchen();
    await create();
    const admin = await h.as("admin");
    const path = url(h.organization.workspaceId, "/refunds");
    expect((await send("PUT", path, undefined, admin)).status).toBe(200);
    for (const role of ["member", "viewer"] as const) {
      const as = await h.as(role);
      for (const [method, where] of [
        ["PUT", path],
        ["DELETE", path],
        ["GET", url(h.organization.workspaceId)],
      ] as const) {
        const answer = await refusal(send(method, where, undefined, as));
        expect(answer).toEqual([403, "Missing permission: workspace.assignment:manage"]);
      }
    }
  });

  it("is 404 for another organization's workspace or skill, and for what is none", async () => {
    const { h, create, send } = await kitchen();
    await create();
    const other = await h.createOrganization("globex");
    const stranger = await h.as("owner", { organization: other });
    await send("POST", "/api/organizations/globex/skills", { ...refunds, name: "Theirs" }, stranger);
    for (const method of ["PUT", "DELETE"]) {
      for (const id of [other.workspaceId, "nothing", "%00", "00000000-0000-0000-0000-000000000000"]) {
        expect(await refusal(send(method, url(id, "/refunds")))).toEqual([404, "Workspace not found"]);
      }
      for (const slug of ["/theirs", "/Refunds", "/%00"]) {
        const answer = await refusal(send(method, url(h.organization.workspaceId, slug)));
        expect(answer).toEqual([404, "Skill not found"]);
      }
    }
    expect(await refusal(send("GET", url(other.workspaceId)))).toEqual([404, "Workspace not found"]);
  });
});

describe("people who may choose an agent's skills", () => {
  it("are those with the permission who reach the agent", async () => {
    const { h, offer, send, url, set } = await withBot();
    await offer();
    await set(["refunds"]);
    const [viewer, member] = [await h.as("viewer"), await h.as("member")];
    const outside = await h.as("member", { reach: false });
    const writes: [string, string, unknown][] = [
      ["PATCH", "", { enabled: ["refunds"] }],
      ["POST", "/refunds/upgrade", undefined],
      ["POST", "/refunds/auto-load", undefined],
      ["POST", "/refunds/rollback", { versionId: "0.1.0" }],
      ["PUT", "/refunds/env", { env: [{ key: "A", value: "canary" }] }],
      ["DELETE", "/refunds/env/A", undefined],
    ];
    for (const [method, path, json] of writes) {
      const lacking = await refusal(send(method, url + path, json, viewer));
      expect([path, ...lacking]).toEqual([path, 403, "Missing permission: agent.skill:write"]);
      expect([path, ...(await refusal(send(method, url + path, json, outside)))]).toEqual([
        path,
        404,
        "Agent not found",
      ]);
      expect([path, (await send(method, url + path, json, member)).ok]).toEqual([path, true]);
    }
    for (const path of ["", "/refunds/env"]) {
      expect((await send("GET", url + path, undefined, viewer)).status).toBe(200);
      expect((await send("GET", url + path, undefined, outside)).status).toBe(404);
    }
  });
});
