import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/core/ids.ts";
import { agents, skillVersions, workspaces } from "../../../src/db/schema.ts";
import { loadSkills, skillsList } from "../../../src/features/skills/index.ts";
import type { Harness } from "../../harness.ts";
import { agentRow, catalogue, kitchen, read, refunds } from "./skills.ts";

const all = ({ services }: Harness, of: { agentId: string; workspaceId: string }) =>
  loadSkills(services.database.db, services, of);

async function withLoad() {
  const k = await kitchen();
  await k.agent("bot");
  const load = async () => {
    const { id, workspaceId } = await agentRow(k.h, "bot");
    return (await all(k.h, { agentId: id, workspaceId })).served;
  };
  const slugs = async () => (await load()).map(({ slug }) => slug);
  return { ...k, load, slugs };
}

describe("a skill served to a turn", () => {
  it("is each skill as the agent pinned it, with its variables opened", async () => {
    const { send, allow, enable, load } = await withLoad();
    const script = { file: "total.js", description: "Adds up", content: "export default 1" };
    const requiredEnv = [
      { name: "TOKEN", sensitive: true, hosts: ["api.example.com"] },
      { name: "REGION", sensitive: false },
      { name: "ABSENT", sensitive: true },
    ];
    const skill = { ...refunds, requiredEnv, requiredTools: ["httpRequest"], scripts: [script] };
    await send("POST", `${catalogue}/catalog/import`, { skills: [skill] });
    await allow("refunds");
    await enable("bot", ["refunds"]);
    await send("PUT", "/api/instances/bot/skills/refunds/env", {
      env: [
        { key: "TOKEN", value: "canary-t" },
        { key: "REGION", value: "eu" },
        { key: "EXTRA", value: "canary-x" },
      ],
    });
    await send("PUT", `${catalogue}/refunds`, { ...refunds, content: "new" });
    const loaded = await load();
    expect(loaded).toEqual([
      {
        ...refunds,
        slug: "refunds",
        version: "0.1.0",
        autoLoad: false,
        scripts: [script],
        requiredTools: ["httpRequest"],
        env: [
          { skill: "refunds", key: "EXTRA", value: "canary-x", sensitive: true, bounds: [] },
          { skill: "refunds", key: "REGION", value: "eu", sensitive: false, bounds: [] },
          {
            skill: "refunds",
            key: "TOKEN",
            value: "canary-t",
            sensitive: true,
            // The hosts of the version that it was stored under, and of the served one.
            bounds: [["api.example.com"], ["api.example.com"]],
          },
        ],
        missingEnv: ["ABSENT"],
        missingTools: [],
      },
    ]);
    await send("POST", "/api/instances/bot/skills/refunds/upgrade");
    await send("POST", "/api/instances/bot/skills/refunds/auto-load");
    expect(await load()).toMatchObject([
      { content: "new", version: "0.2.0", autoLoad: true, scripts: [script], missingEnv: [] },
    ]);
  });

  it("is each stored value, also where the pinned version does not declare it, for the hosts of the one before", async () => {
    const { offer, enable, send, load } = await withLoad();
    const env = (name: string) => [{ name, sensitive: true, hosts: ["api.example.com"] }];
    await offer({ requiredEnv: env("OLD") });
    await enable("bot", ["refunds"]);
    const path = "/api/instances/bot/skills/refunds";
    await send("PUT", `${path}/env`, { env: [{ key: "OLD", value: "canary-v" }] });
    await send("PUT", `${catalogue}/refunds`, { ...refunds, requiredEnv: env("NEW") });
    await send("POST", `${path}/upgrade`);
    const bound = { key: "OLD", value: "canary-v", sensitive: true, bounds: [["api.example.com"]] };
    expect(await load()).toMatchObject([{ env: [bound], missingEnv: ["NEW"] }]);
    const listed = await read<{ env: object[] }>(send("GET", `${path}/env`));
    expect(listed.env).toMatchObject([
      { key: "NEW", configured: false },
      { key: "OLD", configured: true },
    ]);
  });

  it("is a sensitive value when an older version named its hosts and said that it is not sensitive", async () => {
    const { h, offer, enable, send, load } = await withLoad();
    await offer();
    await enable("bot", ["refunds"]);
    const spec = { name: "TOKEN", sensitive: false, hosts: ["api.example.com"] };
    await h.services.database.db.update(skillVersions).set({ requiredEnv: [spec] });
    const env = [{ key: "TOKEN", value: "canary-t", sensitive: false }];
    const shown = await read(send("PUT", "/api/instances/bot/skills/refunds/env", { env }));
    expect(shown).toMatchObject({ env: [{ key: "TOKEN", value: "", sensitive: true }] });
    expect(await load()).toMatchObject([
      { env: [{ key: "TOKEN", sensitive: true, bounds: [spec.hosts, spec.hosts] }] },
    ]);
    const exported = await read(send("GET", `${catalogue}/refunds/export`));
    expect((await send("POST", `${catalogue}/catalog/import`, exported)).status).toBe(201);
  });

  it("is in the catalogue, allowed, and enabled: all three", async () => {
    const { create, allow, disallow, enable, send, slugs } = await withLoad();
    const seen: string[][] = [];
    const look = async () => seen.push(await slugs());
    await create();
    await look();
    await allow("refunds");
    await look();
    await enable("bot", ["refunds"]);
    await look();
    await disallow("refunds");
    await look();
    await allow("refunds");
    await look();
    await send("DELETE", `${catalogue}/refunds`);
    await look();
    expect(seen).toEqual([[], [], ["refunds"], [], ["refunds"], []]);
  });

  it("ends when the agent moves to a workspace that does not allow it", async () => {
    const { h, offer, enable, slugs } = await withLoad();
    await offer();
    await enable("bot", ["refunds"]);
    const { db } = h.services.database;
    const workspaceId = newId();
    await db.insert(workspaces).values({ id: workspaceId, organizationId: h.organization.id, name: "Other" });
    await db.update(agents).set({ workspaceId }).where(eq(agents.slug, "bot"));
    expect(await slugs()).toEqual([]);
  });

  it("is what this agent enabled, with this agent's values", async () => {
    const { agent, offer, enable, send, load, slugs } = await withLoad();
    await agent("other");
    await offer();
    await enable("other", ["refunds"]);
    expect(await slugs()).toEqual([]);
    await enable("bot", ["refunds"]);
    await send("PUT", "/api/instances/other/skills/refunds/env", { env: [{ key: "A", value: "theirs" }] });
    expect(await load()).toMatchObject([{ env: [] }]);
  });

  it("names the tools that are missing", async () => {
    const { agent, offer, enable, send, load } = await withLoad();
    await agent("helper");
    await offer({ requiredTools: ["httpRequest", "agent:helper"] });
    await enable("bot", ["refunds"]);
    expect(await load()).toMatchObject([{ missingTools: [] }]);
    await send("DELETE", "/api/instances/helper");
    expect(await load()).toMatchObject([{ missingTools: ["agent:helper"] }]);
  });

  it("takes two queries, however many skills there are", async () => {
    const { h, offer, enable } = await withLoad();
    const names = Array.from({ length: 12 }, (_, n) => `Skill ${n}`);
    for (const name of names) await offer({ name, requiredTools: ["httpRequest"] });
    await enable("bot", names);
    const { id, workspaceId } = await agentRow(h, "bot");
    const { db } = h.services.database;
    let queries = 0;
    const counting = new Proxy(db, {
      get(target, name, receiver) {
        if (name === "select" || name === "execute") queries += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const { served } = await loadSkills(counting, h.services, { agentId: id, workspaceId });
    expect(served).toHaveLength(12);
    expect(queries).toBe(2);
  });
});

it("long values that contents repeat take 1 MiB of a prompt, and the other placeholders stay", () => {
  const env = [{ skill: "long", key: "TEXT", value: "v".repeat(8_192), sensitive: false, bounds: [] }];
  const content = "{{skill_env.long.TEXT}}".repeat(10_000);
  const fields = {
    description: "",
    version: "1.0.0",
    scripts: [],
    requiredTools: [],
    missingEnv: [],
    missingTools: [],
  };
  const skill = { slug: "long", name: "long", content, autoLoad: true, env, ...fields };
  const list = skillsList([skill, { ...skill, name: "again" }]);
  expect(list.length).toBeLessThan(2 * 1024 * 1024);
  expect(list).toContain("{{skill_env.long.TEXT}}");
});
