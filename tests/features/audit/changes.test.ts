import { describe, expect, test } from "vitest";
import { changesBetween } from "../../../src/core/changes.ts";
import { harness } from "../../harness.ts";
import { auditOf } from "../organizations/callers.ts";

describe("the difference of an update", () => {
  test("is listed by field, in whatever order the database has an object's keys", () => {
    const before = { name: "A", list: [1, 2], object: { a: 1, b: null }, gone: "x" };
    expect(changesBetween(before, { name: "B", list: [1, 2], object: { b: null, a: 1 }, fresh: 1 })).toEqual({
      name: { from: "A", to: "B" },
      fresh: { from: null, to: 1 },
    });
    expect(changesBetween({}, { none: null, absent: undefined })).toEqual({});
  });

  test("shows of a long text where it begins to differ", () => {
    const same = "x".repeat(10_000);
    const { text } = changesBetween({ text: `${same}old` }, { text: `${same}new${same}` });
    expect(text).toEqual({ from: `…${"x".repeat(40)}old`, to: `…${"x".repeat(40)}new${"x".repeat(457)}…` });
    const { list } = changesBetween({ list: [] }, { list: [{ a: same }] });
    expect(JSON.stringify(list?.to).length).toBeLessThan(520);
  });
});

test("an update that changes nothing is no entry, whatever it updates", async () => {
  const h = await harness();
  const { slug, headers } = await h.agent();
  const agent = `/api/instances/${slug}`;
  const acme = "/api/organizations/acme";
  const owner = (await (await h.request("/api/me", { headers })).json()).user;
  const [{ id: workspaceId }] = (await (await h.request(`${acme}/workspaces`, { headers })).json()).workspaces;
  const skill = { name: "refunds", description: "What for", content: "How" };
  await h.request(`${acme}/skills`, { method: "POST", headers, json: skill });
  const updates = [
    ["PATCH", agent, { name: "New", temperature: 0.5, optoutStopKeywords: ["STOP", "HALT"] }],
    ["PATCH", `${agent}/prompts`, { sections: [{ key: "02-soul", content: "Be brief." }] }],
    ["PATCH", `${agent}/tools`, { enabled: ["currentTime"], needsApproval: ["currentTime"] }],
    ["PUT", `${agent}/channels/web`, { enabled: true, config: { allowedOrigins: ["https://a.example"] } }],
    ["PATCH", acme, { name: "Acme Inc." }],
    ["PATCH", `${acme}/workspaces/${workspaceId}`, { name: "Main" }],
    ["PUT", `${acme}/members/${owner.id}`, { roleKey: "owner" }],
    ["PUT", `${acme}/workspaces/${workspaceId}/skills/refunds`, {}],
    ["PATCH", `${agent}/skills`, { enabled: ["refunds"] }],
    ["PUT", `${agent}/secrets`, { secrets: [{ key: "openai_api_key", value: "" }] }],
    ["DELETE", `${agent}/secrets/google_api_key`, undefined],
    ["PATCH", "/api/installation/policies", { debounceMs: 1234, httpAllowedHosts: ["a.example"] }],
    ["DELETE", "/memories", undefined],
  ] as const;
  const sendAll = async () => {
    for (const [method, path, json] of updates) {
      const response = await h.request(path, { method, headers, ...(json ? { json } : {}) });
      expect([path, response.status]).toEqual([path, 200]);
    }
  };
  await sendAll();
  const entries = await auditOf(h);
  await sendAll();
  expect((await auditOf(h)).slice(entries.length)).toEqual([]);
  const actions = entries.map(({ action }) => action);
  for (const none of ["member.update", "agent.secret.update", "agent.secret.delete", "memory.delete-all"])
    expect(actions).not.toContain(none);
  expect(entries.findLast(({ action }) => action === "agent.update")?.summary).toEqual({
    changes: {
      name: { from: slug, to: "New" },
      temperature: { from: null, to: 0.5 },
      optoutStopKeywords: { from: ["STOP"], to: ["STOP", "HALT"] },
    },
  });
  expect(entries.find(({ action }) => action === "policy.update")?.summary).toEqual({
    changes: { debounceMs: { from: null, to: 1234 }, httpAllowedHosts: { from: null, to: ["a.example"] } },
  });
});

test("sealing all secrets with another key is an entry of the installation", async () => {
  const h = await harness();
  await h.agent();
  await h.engine.boot({});
  const { total } = await h.engine.rotateKey();
  expect(total).toBeGreaterThan(0);
  expect((await auditOf(h)).at(-1)).toMatchObject({
    action: "encryption-key.rotate",
    target: "secrets",
    actorType: "system",
    organizationId: null,
    success: true,
    summary: { resealed: 0, unreadable: 0 },
  });
});
