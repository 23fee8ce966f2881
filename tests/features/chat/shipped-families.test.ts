import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/node/clock.ts";
import { createEgress } from "../../../src/adapters/node/egress/request.ts";
import { readFont } from "../../../src/adapters/node/fonts.ts";
import { createS3 } from "../../../src/adapters/s3.ts";
import { shippedPlugins } from "../../../src/plugins/index.ts";
import { TestClock } from "../../clock.ts";
import github from "../../fixtures/plugins/github.json" with { type: "json" };
import hubspot from "../../fixtures/plugins/hubspot.json" with { type: "json" };
import render from "../../fixtures/plugins/render.json" with { type: "json" };
import { s3Server, testBucket } from "../../s3-server.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness, eventually, readEvents } from "./chat.ts";
import { calling, service, toldIn } from "./family.ts";

const shop = { owner: "acme", repo: "shop" };
const serviceId = "srv-cukouhrtq21c73e9scng";
const token = "canary-of-the-families-0123456789";

/** For each family, a call that reads and one that writes, with the service's answers. */
const families = [
  {
    family: "github",
    key: "github_token",
    read: { tool: "getIssue", args: { ...shop, number: 118 }, result: { number: 118, milestone: "Christmas" } },
    write: { tool: "commentOnIssue", args: { ...shop, number: 118, body: "Done." }, result: { id: 1900003 } },
    answers: {
      "GET /repos/acme/shop/issues/118": github.issue,
      "GET /repos/acme/shop/issues/118/comments?page=1&per_page=20": github.comments,
      "POST /repos/acme/shop/issues/118/comments": github.comment,
    },
  },
  {
    family: "render",
    key: "render_api_key",
    read: { tool: "listDeploys", args: { serviceId, limit: 2 }, result: { next: "ZGVwbG95MQ==" } },
    write: { tool: "createDeploy", args: { serviceId }, result: { queued: false } },
    answers: {
      [`GET /services/${serviceId}/deploys?limit=2`]: render.deploys,
      [`POST /services/${serviceId}/deploys`]: render.imageDeploy,
    },
  },
  {
    family: "hubspot",
    key: "hubspot_access_token",
    read: { tool: "searchContacts", args: { query: "ada" }, result: { total: 40, next: "2" } },
    write: { tool: "createNote", args: { body: "Called.", contacts: ["32001"] }, result: { id: "9003" } },
    answers: {
      "POST /crm/v3/objects/contacts/search": hubspot.contacts,
      "POST /crm/v3/objects/notes": hubspot.note,
    },
  },
];

interface Listed {
  name: string;
  enabled: boolean;
  needsApproval: boolean;
}

/** An agent with these tools of a family on, whose service is `answer`. */
async function served(
  { family, key }: { family: string; key: string },
  {
    model,
    tools,
    answer,
  }: { model: ReturnType<typeof calling>; tools: string[]; answer: Parameters<typeof service>[0] },
) {
  const { asked, base } = await service(answer);
  const plugins = shippedPlugins({ [family]: base }, readFont);
  const h = await chatHarness(model, {}, { plugins, egress: createEgress({ clock: systemClock }) });
  const { slug, headers } = h.agent;
  const send = async (method: string, path: string, json?: object) => {
    const answer = await h.request(`/api/instances/${slug}${path}`, { method, headers, ...(json ? { json } : {}) });
    expect(answer.ok).toBe(true);
    return answer.json();
  };
  await send("PUT", "/secrets", { secrets: [{ key, value: token }] });
  await send("PATCH", "/tools", { enabled: tools.map((tool) => `${family}:${tool}`) });
  return { ...h, asked, send };
}

describe.each(families)("an agent with $family", ({ family, key, read, write, answers }) => {
  test("reads at once and writes once approved; the token is seen by the service only", async () => {
    const steps = [read, write];
    const model = scriptedModel((_, index) => {
      const step = steps[index];
      if (!step) return reply("Done.");
      return { parts: [...toolCall(`c${index}`, `${family}__${step.tool}`, step.args), finish("tool-calls")] };
    });
    /** The service repeats the token in each answer. */
    const answer = ({ method, url, headers }: IncomingMessage) => {
      const found = Object.entries(answers).find(([asked]) => asked === `${method} ${url}`)?.[1];
      const echo = { body: headers.authorization, commit: { message: headers.authorization } };
      return found
        ? { body: JSON.stringify(Array.isArray(found) ? found : { ...found, ...echo }), headers: { "x-echo": token } }
        : { status: 404, body: JSON.stringify({ message: headers.authorization }) };
    };
    const h = await served({ family, key }, { model, tools: [read.tool, write.tool], answer });

    const { tools } = await h.send("GET", "/tools");
    const enabled: Listed[] = tools.filter((tool: Listed) => tool.enabled);
    expect(Object.fromEntries(enabled.map(({ name, needsApproval }) => [name, needsApproval]))).toEqual({
      [`${family}:${read.tool}`]: false,
      [`${family}:${write.tool}`]: true,
    });
    const shown = { origin: "plugin", requiredSecrets: [{ key, sensitive: true }] };
    expect(enabled).toMatchObject([shown, shown]);

    const events = await readEvents(await h.native("Please", { chat_id: "c" }));
    const before = h.asked.length;
    expect(toldIn(model.calls[1])).toMatchObject([read.result]);
    const { approval } = events.at(-1)?.data.metadata as { approval: { toolCallId: string } };
    const path = `/api/conversations/${encodeURIComponent(`${h.agent.slug}:web:api-c`)}/approvals/${approval.toolCallId}`;
    const decided = await h.request(path, { method: "POST", headers: h.agent.headers, json: { approved: true } });
    expect(decided.status).toBe(201);
    const { messages } = await eventually(async () => {
      const stored = await h.stored();
      return stored.messages.length > 2 && stored;
    });

    expect(toldIn(model.calls[2])).toMatchObject([write.result]);
    expect(h.asked.map(({ method, url }) => `${method} ${url}`)).toEqual(Object.keys(answers));
    expect(before).toBe(h.asked.length - 1);
    expect(h.asked.every(({ headers }) => headers.authorization === `Bearer ${token}`)).toBe(true);
    expect(messages.at(-1)?.steps).toMatchObject([{ toolResults: [{ result: write.result }] }, { text: "Done." }]);
    expect(JSON.stringify([events, model.calls, h.logs, await h.stored()])).not.toContain(token);
  });

  test("says why the service refused, without the token", async () => {
    const model = calling([`${family}__${read.tool}`, read.args]);
    const answer = ({ headers }: IncomingMessage) => ({
      status: 403,
      body: JSON.stringify({ message: `${"x".repeat(480)} ${headers.authorization} may not do this` }),
    });
    const h = await served({ family, key }, { model, tools: [read.tool], answer });
    const events = await readEvents(await h.native("Please", { chat_id: "c" }));
    const lacks = `The token in the secret ${key} lacks the permission`;
    expect(toldIn(model.calls[1])).toEqual([{ error: expect.stringContaining(lacks) }]);
    expect(JSON.stringify([events, model.calls, h.logs, await h.stored()])).not.toContain(token.slice(0, 10));
  });
});

test("an answer of more than 1 MiB ends in words, not in memory", async () => {
  const model = calling(["github__listIssues", shop]);
  const tools = ["listIssues"];
  const answer = () => ({ body: `[${'{"title":"x"},'.repeat(90_000)}{}]` });
  const h = await served({ family: "github", key: "github_token" }, { model, tools, answer });
  await (await h.native("Please")).text();
  expect(toldIn(model.calls[1])).toEqual([{ error: "The answer is larger than 1 MiB" }]);
});

test("a file that the model saves in a bucket has a link that reaches the person whole, without the keys", async () => {
  const clock = new TestClock();
  const s3 = await s3Server(() => clock.now());
  const model = scriptedModel((call, index) => {
    if (index > 0) return reply(String((toldIn(call)[0] as { url: string }).url));
    const args = { name: "report.csv", content: "a,b", mime: "text/csv" };
    return { parts: [...toolCall("c0", "files__upload", args), finish("tool-calls")] };
  });
  const files = { directory: null, s3: createS3({ clock, endpoint: s3.endpoint }) };
  const h = await chatHarness(model, {}, { plugins: shippedPlugins({}, readFont), files });
  const { slug, headers } = h.agent;
  const secrets = Object.entries({
    s3_region: testBucket.region,
    s3_bucket: testBucket.bucket,
    s3_access_key_id: testBucket.accessKeyId,
    s3_secret_access_key: testBucket.secretAccessKey,
  }).map(([key, value]) => ({ key, value }));
  await h.request(`/api/instances/${slug}/secrets`, { method: "PUT", headers, json: { secrets } });
  await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json: { enabled: ["files:upload"] } });

  const events = await readEvents(await h.native("Please", { chat_id: "c" }));
  const url = events.map(({ event, data }) => (event === "text-delta" ? data.text : "")).join("");
  const place = (await h.request(url)).headers.get("location") ?? "";
  expect(await (await fetch(place)).text()).toBe("a,b");
  const told = JSON.stringify([events, model.calls, h.logs, await h.stored()]);
  expect(told).not.toContain(testBucket.accessKeyId);
  expect(told).not.toContain(testBucket.secretAccessKey);

  const path = `/api/conversations/${encodeURIComponent(`${slug}:web:api-c`)}`;
  expect((await h.request(path, { method: "DELETE", headers })).status).toBe(200);
  expect((await h.request(url)).status).toBe(404);
});

test("without a chat_id there is no conversation for a file, and the model is told so", async () => {
  const model = calling(["files__upload", { name: "a.txt", content: "x" }]);
  const h = await chatHarness(model, {}, { plugins: shippedPlugins({}, readFont) });
  const { slug, headers } = h.agent;
  await h.request(`/api/instances/${slug}/tools`, { method: "PATCH", headers, json: { enabled: ["files:upload"] } });
  await (await h.native("Please")).text();
  expect(toldIn(model.calls[1])).toEqual([{ error: expect.stringContaining("its request has no chat_id") }]);
});
