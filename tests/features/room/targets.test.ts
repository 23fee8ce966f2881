import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { rooms } from "../../../src/db/schema.ts";
import { harness } from "../../harness.ts";

type Json = Record<string, unknown>;

/** An agent, and calls of its API. */
async function withAgent() {
  const h = await harness();
  const { slug, headers } = await h.agent();
  const at = `/api/instances/${slug}`;
  const call = async (method: string, path: string, json?: Json) => {
    const answer = await h.request(path.startsWith("/api") ? path : at + path, {
      method,
      headers,
      ...(json ? { json } : {}),
    });
    return { status: answer.status, body: (await answer.json()) as Json };
  };
  const source = await call("POST", "/event-sources", { name: "Shop", sourceType: "webhook" });
  const definitions = `/event-sources/${source.body.id}/definitions`;
  return { ...h, call, definitions };
}

const definition = { name: "New orders", matchingPrompt: "An order", action: "backlog" };
const task = { name: "Report", prompt: "Sum it up", schedule: { type: "interval", everyMs: 3_600_000 } };
const topic = { outboundChannel: "telegram", outboundTarget: "-1001234567890/45" };
const stored = { outboundChannel: "telegram", outboundTarget: "-1001234567890:45" };
const wrong = { outboundChannel: "slack", outboundTarget: "#general" };
const refused = (where = "") => ({
  status: 400,
  body: {
    message: expect.stringMatching(
      new RegExp(`^${where}outboundTarget: must be the id of a channel, person or thread`),
    ),
  },
});

describe("where results go is checked when it is saved, and stored as conversations name it:", () => {
  test("of the Room", async () => {
    const { call } = await withAgent();
    expect(await call("PUT", "/room", wrong)).toMatchObject(refused());
    expect(await call("PUT", "/room", topic)).toMatchObject({ status: 200 });
    expect((await call("GET", "/room")).body).toMatchObject(stored);
    expect(await call("PUT", "/room", { outboundChannel: "whatsapp" })).toMatchObject({ status: 400 });
  });

  test("of a definition", async () => {
    const { call, definitions } = await withAgent();
    expect(await call("POST", definitions, { ...definition, ...wrong })).toMatchObject(refused());
    const made = await call("POST", definitions, { ...definition, ...topic });
    expect(made).toMatchObject({ status: 201, body: stored });
    expect(await call("PUT", `${definitions}/${made.body.id}`, wrong)).toMatchObject(refused());
    const number = { outboundChannel: "whatsapp", outboundTarget: "whatsapp:+390612345678" };
    expect(await call("PUT", `${definitions}/${made.body.id}`, number)).toMatchObject({
      body: { outboundTarget: "+390612345678" },
    });
  });

  test("of a task", async () => {
    const { call } = await withAgent();
    expect(await call("POST", "/scheduled-tasks", { ...task, ...wrong })).toMatchObject(refused());
    const made = await call("POST", "/scheduled-tasks", { ...task, ...topic });
    expect(made).toMatchObject({ status: 201, body: stored });
    const path = `/scheduled-tasks/${made.body.id}`;
    expect(await call("PATCH", path, wrong)).toMatchObject(refused());
    expect(await call("PATCH", path, { outboundTarget: "@my_channel/7" })).toMatchObject({
      body: { outboundTarget: "@my_channel:7" },
    });
  });

  test("of a bundle, which says where the wrong one is", async () => {
    const { call } = await withAgent();
    const eventSources = (place: Json) => [
      { name: "Shop", sourceType: "webhook", definitions: [{ ...definition, ...place }] },
    ];
    const parts: [string, (place: Json) => Json][] = [
      ["instance.room.", (place) => ({ room: place })],
      ["instance.scheduledTasks.0.", (place) => ({ scheduledTasks: [{ ...task, ...place }] })],
      ["instance.eventSources.0.definitions.0.", (place) => ({ eventSources: eventSources(place) })],
    ];
    const bundle = (part: Json) => ({ version: "1.3", type: "instance", instance: { slug: "shop", ...part } });
    for (const [where, part] of parts) {
      expect(await call("POST", "/api/instances/import", bundle(part(wrong)))).toMatchObject(refused(where));
    }
    const whole = Object.assign({}, ...parts.map(([, part]) => part(topic)));
    expect(await call("POST", "/api/instances/import", bundle(whole))).toMatchObject({ status: 201 });
    const exported = JSON.stringify((await call("GET", "/api/instances/shop/export")).body);
    expect(exported.split(`"outboundTarget":"${stored.outboundTarget}"`)).toHaveLength(4);
  });
});

test("one from before targets were checked stays until it is changed", async () => {
  const { call, services } = await withAgent();
  await call("PUT", "/room", { enabled: true });
  const { db } = services.database;
  const room = eq(rooms.id, String((await call("GET", "/room")).body.id));
  await db.update(rooms).set(wrong).where(room);
  expect(await call("PUT", "/room", { enabled: false })).toMatchObject({ status: 200 });
  expect((await call("GET", "/room")).body).toMatchObject({ ...wrong, enabled: false });
  expect(await call("PUT", "/room", wrong)).toMatchObject(refused());
});
