import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import type { EgressRequest } from "../../../src/core/ports.ts";
import { skillEnv } from "../../../src/db/schema.ts";
import { inspectSecrets } from "../../../src/features/secrets/index.ts";
import { finish, reply, scriptedModel, toolCall } from "../../scripted-model.ts";
import { chatHarness } from "./chat.ts";

const secret = "canary-4711-geheim";
const place = "{{skill_env.shop.API_KEY}}";
const skill = { name: "Shop", description: "Orders.", content: "Sell.", requiredTools: ["httpRequest"] };
const key = (...hosts: string[]) => ({ requiredEnv: [{ name: "API_KEY", sensitive: true, hosts }] });

/** An agent with the skill `shop`. Its model sends the value to each of these hosts, and then replies with `said`. */
async function selling(requiredEnv: object, said = "Sold.") {
  const hosts = ["api.shop.example", "other.example"];
  const asked: EgressRequest[] = [];
  const egress = {
    request: async (request: EgressRequest) => {
      asked.push(request);
      return { status: 200, headers: {}, body: "ok", url: request.url };
    },
  };
  const model = scriptedModel((_, index) => {
    const host = hosts[index % 3];
    const args = { url: `https://${host}/`, headers: { "X-Key": place } };
    return host ? { parts: [...toolCall(`c${index}`, "httpRequest", args), finish("tool-calls")] } : reply(said);
  });
  const h = await chatHarness(model, {}, { egress });
  const { headers, slug } = h.agent;
  const send = async (method: string, path: string, json?: object) => {
    const response = await h.request(path, { method, headers, ...(json ? { json } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  const organization = `/api/organizations/${h.organization.slug}`;
  const own = `/api/instances/${slug}`;
  await send("POST", `${organization}/skills`, { ...skill, ...requiredEnv });
  await send("PUT", `${organization}/workspaces/${h.organization.workspaceId}/skills/shop`);
  await send("PATCH", `${own}/tools`, { enabled: ["httpRequest"] });
  await send("PATCH", `${own}/skills`, { enabled: ["shop"] });
  /** The hosts that get the value in a turn. */
  const reached = async (value = secret) => {
    asked.length = 0;
    await (await h.native("Sell")).text();
    expect(asked).toHaveLength(2);
    return asked.filter((request) => request.headers["X-Key"] === value).map(({ url }) => new URL(url).host);
  };
  return {
    ...h,
    send,
    reached,
    own,
    catalogue: `${organization}/skills/shop`,
    store: (sensitive = true, value = secret) =>
      send("PUT", `${own}/skills/shop/env`, { env: [{ key: "API_KEY", value, sensitive }] }),
    save: (fields: object) => send("PUT", `${organization}/skills/shop`, { ...skill, ...fields }),
    pin: (how: "upgrade" | "rollback") => send("POST", `${own}/skills/shop/${how}`),
    enable: (...enabled: string[]) => send("PATCH", `${own}/skills`, { enabled }),
  };
}

const [shop, both] = [["api.shop.example"], ["api.shop.example", "other.example"]];

describe("a value goes", () => {
  test("after a rollback to a version without hosts only where the version that it was stored under lets it", async () => {
    const h = await selling(key());
    await h.save(key(...shop));
    await h.pin("upgrade");
    await h.store();
    expect(await h.reached()).toEqual(shop);
    await h.pin("rollback");
    expect(await h.reached()).toEqual(shop);
    // Stored again under the version without hosts, it is bound by the other one, served or not.
    await h.store();
    expect(await h.reached()).toEqual(shop);
    await h.pin("upgrade");
    expect(await h.reached()).toEqual(shop);
    await h.pin("rollback");
    expect(await h.reached()).toEqual(shop);
  });

  test("to the hosts of a version that came after it was stored, while the skill is served", async () => {
    const h = await selling(key());
    await h.store();
    expect(await h.reached()).toEqual(both);
    await h.save(key(...shop));
    expect(await h.reached()).toEqual(shop);
    await h.pin("upgrade");
    await h.enable();
    expect(await h.reached()).toEqual([]);
    await h.enable("shop");
    await h.save({});
    await h.pin("upgrade");
    expect(await h.reached()).toEqual(shop);
    await h.send("DELETE", h.catalogue.replace("/skills", `/workspaces/${h.organization.workspaceId}/skills`));
    expect(await h.reached()).toEqual([]);
  });

  test("not where a later version widens the hosts, nor where one forgets the variable", async () => {
    const h = await selling(key(...shop));
    await h.store();
    await h.save(key(...both));
    await h.pin("upgrade");
    expect(await h.reached()).toEqual(shop);
    await h.save({});
    await h.pin("upgrade");
    expect(await h.reached()).toEqual(shop);
    await h.pin("rollback");
    await h.store();
    expect(await h.reached()).toEqual(both);
  });

  test("nowhere when the two versions have no host in common", async () => {
    const h = await selling(key(...shop));
    await h.store();
    await h.save(key("other.example"));
    await h.pin("upgrade");
    expect(await h.reached()).toEqual([]);
    await h.pin("rollback");
    expect(await h.reached()).toEqual(shop);
  });

  test("where every version lets it when nobody knows which it was stored under", async () => {
    const h = await selling(key());
    await h.store();
    await h.save(key(...shop));
    const { db } = h.services.database;
    await db.update(skillEnv).set({ versionId: null }).where(eq(skillEnv.key, "API_KEY"));
    await h.send("PATCH", h.own, { name: "Loaded anew" });
    expect(await h.reached()).toEqual(shop);
  });

  test("nowhere while its skill is off, and once the skill is deleted", async () => {
    const h = await selling(key(...shop));
    await h.store();
    await h.enable();
    expect(await h.reached()).toEqual([]);
    await h.enable("shop");
    expect(await h.reached()).toEqual(shop);
    await h.send("DELETE", h.catalogue);
    expect(await h.reached()).toEqual([]);
  });
});

test.each<[string, (h: Awaited<ReturnType<typeof selling>>) => Promise<unknown>]>([
  ["the served version does not declare", async (h) => [await h.save({}), await h.pin("upgrade")]],
  ["is of a skill that is off", (h) => h.enable()],
  [
    "is of a skill that the workspace does not allow any more",
    (h) => h.send("DELETE", h.catalogue.replace("/skills", `/workspaces/${h.organization.workspaceId}/skills`)),
  ],
])("a value that %s is in no reply", async (_, change) => {
  const h = await selling(key(), `It is ${secret}.`);
  await h.store();
  await change(h);
  const streamed = await (await h.native("Sell", { chat_id: "c" })).text();
  expect(streamed).toContain("It is [secret].");
  expect(JSON.stringify([streamed, await h.stored()])).not.toContain(secret);
});

test.each<[string, (h: Awaited<ReturnType<typeof selling>>) => Promise<unknown>]>([
  ["was deleted", (h) => h.send("DELETE", `${h.own}/skills/shop/env/API_KEY`)],
  ["was deleted with its skill", (h) => h.send("DELETE", h.catalogue)],
  ["was replaced", (h) => h.store(true, "another-value")],
])("a value that %s after a turn was served it is in no reply of the process", async (_, change) => {
  const h = await selling(key(), `It is ${secret}.`);
  await h.store();
  await h.reached();
  await change(h);
  const streamed = await (await h.native("Sell", { chat_id: "c" })).text();
  expect(streamed).toContain("It is [secret].");
  expect(JSON.stringify([streamed, await h.stored()])).not.toContain(secret);
});

test("a value that is no secret any more is in replies again", async () => {
  const h = await selling({ requiredEnv: [{ name: "API_KEY", sensitive: false }] }, `It is ${secret}.`);
  await h.store();
  expect(await (await h.native("Sell", { chat_id: "c" })).text()).toContain("It is [secret].");
  await h.store(false);
  expect(await (await h.native("Sell", { chat_id: "c" })).text()).toContain(`It is ${secret}.`);
});

test("a value that a version hid after it was stored is in no reply and no list while its skill is off", async () => {
  const open = { requiredEnv: [{ name: "API_KEY", sensitive: false }] };
  const h = await selling(open, `It is ${secret}.`);
  await h.store(false);
  const listed = async () => {
    const response = await h.request(`${h.own}/skills/shop/env`, { headers: h.agent.headers });
    return ((await response.json()) as { env: { value: string; sensitive: boolean }[] }).env;
  };
  expect(await listed()).toMatchObject([{ value: secret, sensitive: false }]);
  await h.save(key());
  await h.save({});
  await h.enable();
  expect(await listed()).toMatchObject([{ value: "", sensitive: true }]);
  const streamed = await (await h.native("Sell", { chat_id: "c" })).text();
  expect(streamed).toContain("It is [secret].");
  expect(JSON.stringify([streamed, await h.stored()])).not.toContain(secret);
});

test("a short value that was stored earlier is still used, and named to the doctor", async () => {
  const h = await selling(key());
  await h.store();
  const { cipher, database } = h.services;
  const [row] = await database.db.select().from(skillEnv);
  if (!row) throw new Error("No such row");
  const sealed = await cipher.seal("4711", `${row.agentId}:${row.skillId}:API_KEY`);
  await database.db.update(skillEnv).set(sealed);
  expect(await h.reached("4711")).toEqual(both);
  expect((await inspectSecrets(h.services)).short).toEqual([h.agent.slug]);
  await h.store();
  expect((await inspectSecrets(h.services)).short).toEqual([]);
});
