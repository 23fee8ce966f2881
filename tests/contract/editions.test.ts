import { expect, test } from "vitest";
import { type App, createApp } from "../../src/app.ts";
import { type Edition, editionOf, features, openEdition } from "../../src/core/edition.ts";
import { createEngine } from "../../src/engine.ts";
import { createOpening } from "../../src/http/opening.ts";
import { guarded, json, router, unguarded, webhook } from "../../src/http/route.ts";
import { Deleted } from "../../src/http/shapes.ts";
import { type Harness, harness, managedEdition } from "../harness.ts";
import { bearer, type Headers, pathOf } from "./call.ts";
import { isGuarded, type Route, readDocument, takes } from "./document.ts";
import { createWorld, type World } from "./world.ts";

const unlicensed = editionOf({ EDITION: "managed", FEATURES: [] });
const sentence = (feature: string) => `This installation's licence lacks the feature: ${feature}`;

/** The services of a harness, for a second app of another edition over the same database. */
const inEdition = ({ services }: Harness, edition: Edition) => ({
  ...services,
  options: { ...services.options, edition },
});

const declared = (method: "get" | "post", path: string, operationId: string) =>
  ({
    ...{ method, path, operationId, tags: ["Service"], summary: "Tea", description: "Tea." },
    responses: { 200: json(Deleted, "Tea.") },
  }) as const;

const served = { deleted: true } as const;

/** A group as a feature contributes it: routes of the managed edition beside one of both. */
const tea = router()
  .openapi(guarded("org:write", declared("get", "/api/tea/{id}", "readTea"), { feature: "knowledge" }), (c) =>
    c.json(served, 200),
  )
  .openapi(guarded("agent:read", declared("post", "/api/tea/{id}", "pourTea")), (c) => c.json(served, 200))
  .openapi(unguarded(declared("post", "/api/tea-party", "joinTea"), { feature: "knowledge" }), (c) =>
    c.json(served, 200),
  )
  .openapi(webhook(declared("post", "/webhooks/tea/{slug}", "receiveTea"), { feature: "channels" }), (c) =>
    c.json(served, 200),
  );

const answerOf = async (app: App, name: string, headers: Headers = {}) => {
  const [method = "", path = ""] = name.split(" ");
  const response = await app.request(path, { method, headers }, { remoteAddress: "192.0.2.1" });
  const { message } = (await response.json()) as { message?: string };
  return [response.status, message ?? response.headers.get("Allow")];
};

test("a route of a feature is absent in the open edition, refused without its feature, and served with it", async () => {
  const h = await harness();
  const [owner, viewer] = [await h.as("owner"), await h.as("viewer")];
  const teaIn = (edition: Edition) => {
    const services = inEdition(h, edition);
    return createApp(services, [tea], createOpening(services));
  };
  // The open one first: it leaves the group as it is.
  const [open, closed, whole] = [teaIn(openEdition), teaIn(unlicensed), teaIn(managedEdition)];

  for (const headers of [{}, owner]) {
    expect(await answerOf(open, "GET /api/tea/1", headers)).toEqual([405, "GET is not allowed here; use POST"]);
    expect(await answerOf(open, "POST /api/tea-party", headers)).toEqual([404, "No such route: /api/tea-party"]);
    expect(await answerOf(open, "POST /webhooks/tea/x", headers)).toEqual([404, "No such route: /webhooks/tea/x"]);
  }
  for (const app of [open, closed, whole]) expect(await answerOf(app, "POST /api/tea/1", viewer)).toEqual([200, null]);

  expect(await answerOf(closed, "GET /api/tea/1")).toEqual([401, "Missing credentials"]);
  for (const headers of [owner, viewer]) {
    expect(await answerOf(closed, "GET /api/tea/1", headers)).toEqual([403, sentence("knowledge")]);
  }
  expect(await answerOf(closed, "POST /api/tea-party")).toEqual([403, sentence("knowledge")]);
  expect(await answerOf(closed, "POST /webhooks/tea/x")).toEqual([404, "No such route: /webhooks/tea/x"]);

  expect(await answerOf(whole, "GET /api/tea/1", owner)).toEqual([200, null]);
  expect(await answerOf(whole, "GET /api/tea/1", viewer)).toEqual([403, "Missing permission: org:write"]);
  expect(await answerOf(whole, "POST /api/tea-party")).toEqual([200, null]);
  expect(await answerOf(whole, "POST /webhooks/tea/x")).toEqual([200, null]);

  const documents = await Promise.all(
    [open, closed, whole].map(async (app) => (await app.request("/openapi.json")).text()),
  );
  expect(new Set(documents).size).toBe(1);
  expect(JSON.parse(documents[0] ?? "").paths["/api/tea/{id}"]).toMatchObject({
    get: { "x-feature": "knowledge", "x-permission": "org:write" },
    post: { "x-permission": "agent:read" },
  });
});

/** The routes of features in the document, and the world to call them in. */
async function featureRoutes(): Promise<{ world: World; routes: Route[] }> {
  const world = await createWorld();
  const { list } = await readDocument(world.h);
  return { world, routes: list.filter(({ operation }) => operation["x-feature"] !== undefined) };
}

test("every route of a feature is a 404 in the open edition, or a 405 where the path has other methods", async () => {
  const { world, routes } = await featureRoutes();
  const owner = bearer(await world.session(await world.person("owner", world.acme)));
  for (const { method, path, name } of routes) {
    for (const headers of [{}, owner]) {
      const response = await world.h.request(addressed(world, { path }), { method, headers });
      const allowed = response.headers.get("Allow")?.split(", ");
      expect([name, response.status]).toEqual([name, allowed ? 405 : 404]);
      expect(allowed ?? [], name).not.toContain(method);
    }
  }
});

test("a route of a feature that is off is a 401, then the 403 of the feature, whatever the caller may do", async () => {
  const { world, routes } = await featureRoutes();
  const { app } = createEngine(inEdition(world.h, unlicensed));
  const key = bearer((await world.key(world.acme)).token);
  const people = ["owner", "viewer"] as const;
  const sessions = await Promise.all(
    people.map(async (role) => bearer(await world.session(await world.person(role, world.acme)))),
  );
  // An agent's callers are refused by the door, whose own tests are those of chat.
  for (const route of routes.filter((one) => !takes(one, "agentApiKey"))) {
    const name = `${route.method} ${addressed(world, route)}`;
    const feature = route.operation["x-feature"] ?? "";
    expect(features, name).toContain(feature);
    const refusal = route.path.startsWith("/webhooks/")
      ? [404, `No such route: ${addressed(world, route)}`]
      : [403, sentence(feature)];
    const nobody = isGuarded(route) ? [401, "Missing credentials"] : refusal;
    expect([name, ...(await answerOf(app, name))]).toEqual([name, ...nobody]);
    for (const headers of [...sessions, key]) {
      expect([name, ...(await answerOf(app, name, headers))]).toEqual([name, ...refusal]);
    }
  }
});

const addressed = ({ acme }: World, route: Pick<Route, "path">) =>
  pathOf(route, { orgSlug: acme.slug, slug: acme.agentSlug, id: acme.agentId }).replaceAll(/\/(?=\/|$)/g, "/x");

test("the current user is told the edition, its features and no more", async () => {
  const h = await harness();
  const headers = await h.as("owner");
  const rest = { isPlatformAdmin: false, impersonatedBy: null };
  const { user, ...open } = await (await h.request("/api/me", { headers })).json();
  expect(user).toMatchObject({ name: "owner" });
  expect(open).toEqual({ edition: "open", features: [], ...rest });
  const { app } = createEngine(
    inEdition(h, editionOf({ EDITION: "managed", FEATURES: ["channels", "administration"] })),
  );
  const inManaged = await (await app.request("/api/me", { headers })).json();
  // The managed edition has one permission more.
  const [acme] = inManaged.user.organizations;
  acme.permissions = acme.permissions.filter((permission: string) => permission !== "org.role:manage");
  expect(inManaged).toEqual({ user, edition: "managed", features: ["administration", "channels"], ...rest });
});
