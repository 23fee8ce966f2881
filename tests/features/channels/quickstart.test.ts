import { describe, expect, it } from "vitest";
import type { Ctx } from "../../../src/context.ts";
import { newId } from "../../../src/core/ids.ts";
import { roles } from "../../../src/core/permissions.ts";
import { createQuickstartAgent } from "../../../src/features/channels/index.ts";
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
    },
    request: { id: newId(), ip: "" },
  };
}

async function read(h: Harness, path: string) {
  const answer = await h.request(path, { headers: await h.as("owner") });
  return (await answer.json()) as Record<string, Record<string, unknown>>;
}

describe("the quickstart's agent", () => {
  it("is made ready to answer, and shows its key once", async () => {
    const h = await harness();
    const first = await createQuickstartAgent(system(h), { slug: "assistant", model: "demo:demo" });
    expect(first).toEqual({ slug: "assistant", key: expect.stringMatching(/^sk-agent-[\w-]{32}$/) });
    const { instance } = await read(h, "/api/instances/assistant");
    expect(instance).toMatchObject({ provider: "demo", model: "demo", webEnabled: true, authEnabled: true });
    const again = await createQuickstartAgent(system(h), { slug: "assistant", model: "openai:gpt-5" });
    expect(again).toEqual({ slug: "assistant", key: null });
    expect((await read(h, "/api/instances/assistant")).instance).toEqual(instance);
  });

  it("gets another key when one is asked for", async () => {
    const h = await harness();
    const first = await createQuickstartAgent(system(h), { slug: "assistant" });
    const second = await createQuickstartAgent(system(h), { slug: "assistant", newKey: true });
    expect(second.key).toMatch(/^sk-agent-/);
    expect(second.key).not.toBe(first.key);
  });

  it("is the one that is there, with Web turned on", async () => {
    const h = await harness();
    const headers = await h.as("owner");
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "mine", name: "Mine" } });
    expect((await createQuickstartAgent(system(h), { slug: "mine" })).key).not.toBeNull();
    await h.request("/api/instances/mine/channels/web", { method: "DELETE", headers });
    expect(await createQuickstartAgent(system(h), { slug: "mine" })).toEqual({ slug: "mine", key: null });
    expect((await read(h, "/api/instances/mine")).instance).toMatchObject({ name: "Mine", webEnabled: true });
  });

  it("is not another organization's", async () => {
    const h = await harness();
    const other = await h.createOrganization("globex");
    await createQuickstartAgent(system(h, other), { slug: "assistant" });
    await expect(createQuickstartAgent(system(h), { slug: "assistant" })).rejects.toThrow(
      "The slug assistant is taken",
    );
    await expect(createQuickstartAgent(system(h), { slug: "No Slug" })).rejects.toThrow();
  });
});
