import { describe, expect, it } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { plugins } from "../../../src/db/schema.ts";
import { type Fields, kitchen, read, refunds, refusal } from "./skills.ts";

interface Shown {
  name: string;
  enabled: boolean;
  source: string | null;
  needsApproval: boolean;
}

const bot = "/api/instances/bot";

/** An agent whose skill requires `httpRequest`. */
async function withSkill(fields: Fields = {}) {
  const k = await kitchen();
  await k.agent("bot");
  await k.offer({ requiredTools: ["httpRequest"], ...fields });
  await k.enable("bot", ["refunds"]);
  const tool = async (name = "httpRequest") => {
    const { tools } = await read<{ tools: Shown[] }>(k.send("GET", `${bot}/tools`));
    const found = tools.find((one) => one.name === name);
    return found && [found.source, found.needsApproval];
  };
  const save = (enabled: string[], needsApproval?: string[]) =>
    k.send("PATCH", `${bot}/tools`, { enabled, ...(needsApproval ? { needsApproval } : {}) });
  return { ...k, tool, save };
}

type Step = (k: Awaited<ReturnType<typeof withSkill>>) => Promise<unknown>;

const plugin = (organizationId: string, fields: object = {}) => ({
  id: newId(),
  organizationId,
  namespace: "crm",
  kind: "mcp",
  keyId: "k",
  config: new Uint8Array([1]),
  tools: [{ name: "find", description: "Finds.", inputSchema: { type: "object" } }],
  ...fields,
});

describe("a tool that a skill turned on", () => {
  const skill = `${bot}/skills/refunds`;
  it.each<[string, Step, Step]>([
    ["disallowed and allowed", (k) => k.disallow("refunds"), (k) => k.allow("refunds")],
    ["disabled and enabled", (k) => k.enable("bot", []), (k) => k.enable("bot", ["refunds"])],
    [
      "upgraded and rolled back",
      async (k) => {
        await k.send("PUT", "/api/organizations/acme/skills/refunds", refunds);
        await k.send("POST", `${skill}/upgrade`);
      },
      (k) => k.send("POST", `${skill}/rollback`),
    ],
  ])("asks for approval again when the skill was %s", async (_, away, back) => {
    const k = await withSkill();
    await read(k.save(["readSkill", "httpRequest"], ["httpRequest"]));
    expect(await k.tool()).toEqual(["skill", true]);
    await away(k);
    expect(await k.tool()).toEqual([null, false]);
    // A tool that is off can't be named, so it does not change.
    await read(k.save(["readSkill"], []));
    await back(k);
    expect(await k.tool()).toEqual(["skill", true]);
  });

  it("keeps asking when somebody enables it instead, until they change that", async () => {
    const k = await withSkill();
    await read(k.save(["httpRequest"], ["httpRequest"]));
    const changed = await read<{ toolsChanged: object }>(k.enable("bot", []));
    expect(changed.toolsChanged).toEqual({ enabled: [], disabled: ["httpRequest"] });
    await read(k.save(["httpRequest"]));
    expect(await k.tool()).toEqual(["manual", true]);
    await k.enable("bot", ["refunds"]);
    await k.enable("bot", []);
    expect(await k.tool()).toEqual(["manual", true]);
    await read(k.save(["httpRequest"], []));
    await read(k.save([]));
    await k.enable("bot", ["refunds"]);
    expect(await k.tool()).toEqual(["skill", false]);
  });

  it("stays on without the skill when it was enabled before, and not when it was only named", async () => {
    const k = await withSkill();
    await k.enable("bot", []);
    await read(k.save(["readSkill", "httpRequest"]));
    await k.enable("bot", ["refunds"]);
    await read(k.save(["readSkill", "httpRequest", "currentTime"]));
    expect(await k.tool()).toEqual(["skill", false]);
    await k.enable("bot", []);
    expect(await k.tool()).toEqual(["manual", false]);
    await read(k.save([]));
    await k.enable("bot", ["refunds"]);
    await read(k.save(["httpRequest"]));
    await k.enable("bot", []);
    expect(await k.tool()).toEqual([null, false]);
  });

  it("is on or off with the workspace that the agent is in", async () => {
    const k = await withSkill();
    const { workspaceId } = k.h.organization;
    const created = await read<{ workspace: { id: string } }>(
      k.send("POST", "/api/organizations/acme/workspaces", { name: "Other" }),
    );
    const move = (to: string) => read(k.send("PATCH", bot, { workspaceId: to }));
    await read(k.save(["httpRequest"], ["httpRequest"]));
    await move(created.workspace.id);
    expect(await k.tool()).toEqual([null, false]);
    expect((await k.save([])).status).toBe(200);
    await move(workspaceId);
    expect(await k.tool()).toEqual(["skill", true]);
    expect((await k.save([])).status).toBe(400);
  });

  it("asks no approval while its plugin is missing, and keeps its setting", async () => {
    const k = await withSkill({ requiredTools: ["httpRequest"] });
    const { db } = k.h.services.database;
    await db.insert(plugins).values(plugin(k.h.organization.id));
    await k.offer({ name: "Crm", requiredTools: ["crm:find"] });
    await k.enable("bot", ["crm"]);
    expect((await refusal(k.save([])))[0]).toBe(400);
    await read(k.save(["crm:find"], ["crm:find"]));
    await db.delete(plugins);
    expect(await k.tool("crm:find")).toBeUndefined();
    await read(k.save([], []));
    await db.insert(plugins).values(plugin(k.h.organization.id));
    expect(await k.tool("crm:find")).toEqual(["skill", true]);
  });
});

describe("a tool that a skill requires of a plugin", () => {
  it("is found once its server listed it", async () => {
    const k = await kitchen();
    const { db } = k.h.services.database;
    const said = (tool: string) => refusal(k.create({ name: tool, requiredTools: [tool] }));
    const save = async (fields: object) => {
      await db.delete(plugins);
      await db.insert(plugins).values(plugin(k.h.organization.id, fields));
    };
    const unknown = [400, expect.stringContaining("this organization has no such tool: crm:lose")];
    await save({});
    expect(await said("crm:lose")).toEqual(unknown);
    await save({ tools: [], status: "connected" });
    expect(await said("crm:lose")).toEqual(unknown);
    await save({ status: "failed" });
    expect(await said("crm:lose")).toEqual(unknown);
    expect((await k.create({ name: "Found", requiredTools: ["crm:find"] })).status).toBe(201);
    await save({ tools: [], status: "failed" });
    await k.offer({ name: "Later", requiredTools: ["crm:lose"] });
    await k.agent("bot");
    const { skills } = await read<{ skills: Fields[] }>(k.enable("bot", ["later"]));
    expect(skills).toMatchObject([{ name: "later", missingTools: ["crm:lose"] }]);
  });
});
