import { describe, expect, test } from "vitest";
import { renderPlugin } from "../../src/plugins/render/index.ts";
import recorded from "../fixtures/plugins/render.json" with { type: "json" };
import { fakeService } from "./fake-service.ts";

const key = "rnd_AbCdEfGhIjKlMnOpQrStUvWx";
const serviceId = "srv-cukouhrtq21c73e9scng";
const deployId = "dep-cukouhrtq21c73e9scn0";
const deploys = `/v1/services/${serviceId}/deploys`;

const render = (answers: Parameters<typeof fakeService>[0]["answers"] = {}) =>
  fakeService({ plugin: renderPlugin(), secrets: { render_api_key: key }, answers });

describe("services", () => {
  test("a full page is followed by the cursor of its last item", async () => {
    const service = render({ "GET /v1/services": { body: recorded.services } });
    const filters = { name: "shop & co", type: "web_service", suspended: false, cursor: "a+/=" };
    expect(await service.call("listServices", { ...filters, limit: 3 })).toEqual({
      services: [
        {
          id: serviceId,
          name: "shop",
          type: "web_service",
          suspended: false,
          url: "https://shop.onrender.com",
          repo: "https://github.com/acme/shop",
          branch: "main",
          image: null,
          region: "frankfurt",
          updatedAt: "2026-11-20T16:45:00.654321Z",
        },
        expect.objectContaining({ name: "shop-report", type: "cron_job", suspended: true, url: null }),
        expect.objectContaining({ name: "shop-docs", type: "static_site", region: null }),
      ],
      next: "Y3Vyc29yMw==",
    });
    const { url, headers } = service.last();
    const sent = Object.fromEntries(new URL(url).searchParams);
    expect(sent).toEqual({ ...filters, suspended: "not_suspended", limit: "3" });
    expect(headers).toEqual({
      accept: "application/json",
      "user-agent": "agent-engine",
      authorization: `Bearer ${key}`,
    });
    expect(await service.call("listServices", { limit: 4, suspended: true })).toMatchObject({ next: null });
    expect(service.last().url).toBe("https://api.render.com/v1/services?limit=4&suspended=suspended");
  });

  test("each kind of service is read in one shape", async () => {
    const service = render({
      [`GET /v1/services/${serviceId}`]: { body: recorded.service },
      "GET /v1/services/crn-1": { body: recorded.cronJob },
      "GET /v1/services/srv-2": { body: recorded.staticSite },
    });
    const web = Object(await service.call("getService", { serviceId }));
    expect(web).toMatchObject({
      autoDeploy: true,
      runtime: "node",
      plan: "starter",
      instances: 2,
      healthCheckPath: "/health",
      buildCommand: "npm ci && npm run build",
      preDeployCommand: "npm run migrate",
      startCommand: "npm start",
      schedule: null,
    });
    const cron = Object(await service.call("getService", { serviceId: "crn-1" }));
    expect(cron).toMatchObject({ schedule: "0 4 * * *", startCommand: "node report.js", suspenders: ["user"] });
    const site = Object(await service.call("getService", { serviceId: "srv-2" }));
    expect(site).toMatchObject({ buildCommand: "npm run docs", publishPath: "dist", instances: null });
    expect([Object.keys(cron), Object.keys(site)]).toEqual([Object.keys(web), Object.keys(web)]);
  });
});

describe("deploys", () => {
  test("are listed and read", async () => {
    const service = render({
      [`GET ${deploys}`]: { body: recorded.deploys },
      [`GET ${deploys}/${deployId}`]: { body: recorded.deploy },
    });
    const live = {
      id: deployId,
      status: "live",
      trigger: "new_commit",
      commit: { id: "7638417db6d59f3c431d3e1f261cc637155684cd", message: "Refuse an empty basket (#116)" },
      image: null,
      createdAt: "2026-11-20T16:40:20.000000Z",
      startedAt: "2026-11-20T16:40:25.000000Z",
      finishedAt: "2026-11-20T16:45:00.000000Z",
    };
    expect(await service.call("listDeploys", { serviceId, status: "live", limit: 2 })).toEqual({
      deploys: [expect.objectContaining({ commit: null, image: "docker.io/acme/shop:1.4", finishedAt: null }), live],
      next: "ZGVwbG95MQ==",
    });
    expect(service.last().url).toBe(`https://api.render.com${deploys}?status=live&limit=2`);
    expect(await service.call("getDeploy", { serviceId, deployId })).toEqual(live);
  });

  test("are started", async () => {
    const service = render({ [`POST ${deploys}`]: { status: 201, body: recorded.imageDeploy } });
    expect(await service.call("createDeploy", { serviceId })).toMatchObject({
      queued: false,
      deploy: { id: "dep-cukouhrtq21c73e9scn9", status: "build_in_progress" },
    });
    expect(service.last().json).toEqual({ clearCache: "do_not_clear" });
    await service.call("createDeploy", { serviceId, clearCache: true, commitId: "7638417" });
    expect(service.last().json).toEqual({ clearCache: "clear", commitId: "7638417" });
  });

  test("that wait for another one have no id yet", async () => {
    const service = render({ [`POST ${deploys}`]: { status: 202 } });
    expect(await service.call("createDeploy", { serviceId })).toEqual({ queued: true, deploy: null });
  });
});

const { errors } = recorded;
test.each([
  [
    errors.unauthorized,
    "Render answered 401: Unauthorized. The token in the secret render_api_key is wrong or has expired; an administrator must store a new one.",
  ],
  [
    errors.forbidden,
    "Render answered 403: you do not have permissions for the requested resource. The token in the secret render_api_key lacks the permission.",
  ],
  [
    errors.notFound,
    "Render answered 404: not found: srv-cukouhrtq21c73e9scng. There is no such thing, or the token in the secret render_api_key has no right to it.",
  ],
  [errors.invalid, "Render answered 400: invalid commit ID: commit not found."],
  [errors.conflict, "Render answered 409: the service is suspended."],
  [
    errors.limited,
    "Render answered 429: rate limit exceeded. The rate limit is used up; try again in 42 seconds (at 2026-11-23T10:00:42.000Z).",
  ],
  [
    errors.broken,
    "Render answered 500: internal server error. Render has trouble now. The change may have been made: look before you try again.",
  ],
])("%j", async (answer, message) => {
  const service = render({ [`POST ${deploys}`]: answer });
  await expect(service.call("createDeploy", { serviceId })).rejects.toThrow(new Error(message));
});

test.each([
  "",
  "..",
  "srv-1/../../users",
  "srv-1?x=1",
  "srv-1#",
  "srv-%2e%2e",
  "srv-",
  "srv-1\n",
  "SRV",
  "srv-ä",
  `srv-${"1".repeat(65)}`,
])("the id %j reaches no request", async (id) => {
  const service = render();
  await expect(service.call("getService", { serviceId: id })).rejects.toThrow("serviceId must be an id");
  await expect(service.call("getDeploy", { serviceId, deployId: id })).rejects.toThrow("deployId must be an id");
  await expect(service.call("createDeploy", { serviceId: id })).rejects.toThrow("serviceId must be an id");
  expect(service.asked).toEqual([]);
});

test("only createDeploy needs an approval; another address is asked below its path", async () => {
  const plugin = renderPlugin({ baseUrl: "http://127.0.0.1:8080/render" });
  expect(plugin.hosts).toEqual(["127.0.0.1:8080"]);
  const answers = { "GET /render/services": { body: [] } };
  const service = fakeService({ plugin, secrets: { render_api_key: key }, answers });
  expect(await service.call("listServices", {})).toEqual({ services: [], next: null });
  const tools = plugin.tools.map(({ name, effect, needsApproval }) => [name, effect, needsApproval]);
  expect(tools).toEqual([
    ["listServices", "none", false],
    ["getService", "none", false],
    ["listDeploys", "none", false],
    ["getDeploy", "none", false],
    ["createDeploy", "external", true],
  ]);
});
