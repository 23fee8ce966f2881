import { describe, expect, it } from "vitest";
import type { Ctx } from "../../../src/context/ctx.ts";
import { roles } from "../../../src/core/credentials/permissions.ts";
import { newId } from "../../../src/core/ids.ts";
import { createQuickstartAgent } from "../../../src/features/channels/index.ts";
import { answeringModel } from "../../../src/features/turns/index.ts";
import { type Harness, harness } from "../../harness.ts";

function system(h: Harness, organization = h.organization): Ctx {
  return {
    ...h.services,
    db: h.services.database.db,
    actor: { type: "system", id: null, name: "quickstart" },
    membership: {
      organizationId: organization.id,
      organizationSlug: organization.slug,
      first: true,
      role: "owner",
      permissions: roles.owner,
      workspaceIds: null,
      everywhere: false,
    },
    request: { id: newId(), ip: "" },
  };
}

type Wanted = Parameters<typeof createQuickstartAgent>[1];

const make = (h: Harness, wanted: Wanted, organization = h.organization) =>
  createQuickstartAgent(system(h, organization), wanted, (slug) => answeringModel(h.services, slug));

async function read(h: Harness, path: string) {
  const answer = await h.request(path, { headers: await h.as("owner") });
  return (await answer.json()) as Record<string, Record<string, unknown>>;
}

describe("the quickstart's agent", () => {
  it("is made ready to answer, and shows its key once", async () => {
    const h = await harness();
    const first = await make(h, { slug: "assistant", model: "demo:demo" });
    const demo = { slug: "assistant", provider: "demo", model: "demo", missing: null, fastModel: null };
    expect(first).toEqual({ ...demo, key: expect.stringMatching(/^sk-agent-[\w-]{32}$/) });
    const { instance } = await read(h, "/api/instances/assistant");
    expect(instance).toMatchObject({ provider: "demo", model: "demo", webEnabled: true, authEnabled: true });
    expect(await make(h, { slug: "assistant" })).toEqual({ ...demo, key: null });
    expect((await read(h, "/api/instances/assistant")).instance).toEqual(instance);
  });

  it("gets the wanted model also when it is there, with the fast model of a provider that has a key", async () => {
    const h = await harness({ environmentKeys: { openai_api_key: "sk-1" } });
    const model = async () => (await read(h, "/api/instances/assistant")).instance;
    const openai = { provider: "openai", model: "gpt-5-mini", missing: null, fastModel: "openai:gpt-5-nano" };
    expect(await make(h, { slug: "assistant" })).toMatchObject(openai);
    expect(await model()).toMatchObject({ provider: null, model: null, fastModel: "openai:gpt-5-nano" });

    const keyless = { provider: "mistral", model: "m", missing: "mistral_api_key", fastModel: null };
    expect(await make(h, { slug: "assistant", model: "mistral:m" })).toMatchObject(keyless);
    expect(await model()).toMatchObject({ provider: "mistral", model: "m", fastModel: null });

    const headers = await h.as("owner");
    await h.request("/api/instances/assistant", { method: "PATCH", headers, json: { fastModel: "openai:my-own" } });
    const own = { provider: "openai", model: "gpt-5", missing: null, fastModel: "openai:my-own" };
    expect(await make(h, { slug: "assistant", model: "openai:gpt-5" })).toMatchObject(own);
  });

  it("gets another key when one is asked for", async () => {
    const h = await harness();
    const first = await make(h, { slug: "assistant" });
    const second = await make(h, { slug: "assistant", newKey: true });
    expect(second.key).toMatch(/^sk-agent-/);
    expect(second.key).not.toBe(first.key);
  });

  it("is the one that is there, with Web turned on", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "mine", name: "Mine" } });
    expect((await make(h, { slug: "mine" })).key).not.toBeNull();
    await h.request("/api/instances/mine/channels/web", { method: "DELETE", headers });
    expect(await make(h, { slug: "mine" })).toMatchObject({ slug: "mine", key: null });
    expect((await read(h, "/api/instances/mine")).instance).toMatchObject({ name: "Mine", webEnabled: true });
  });

  it("is not another organization's", async () => {
    const h = await harness();
    const other = await h.createOrganization("globex");
    await make(h, { slug: "assistant" }, other);
    await expect(make(h, { slug: "assistant" })).rejects.toThrow("The slug assistant is taken");
    await expect(make(h, { slug: "No Slug" })).rejects.toThrow();
  });
});
