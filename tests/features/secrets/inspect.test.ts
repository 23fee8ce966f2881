import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { agents, secrets } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { secretPlace } from "../../../src/features/secrets/rules.ts";
import { type Harness, harness } from "../../harness.ts";

const older = new Uint8Array(32).fill(7);
const newer = new Uint8Array(32).fill(8);

const under = async (h: Harness, ...keys: Uint8Array<ArrayBuffer>[]) => {
  const services: Services = { ...h.services, cipher: await createCipher(keys) };
  return createEngine(services);
};

test("an inspection tells the right key, a wrong one and values that wait for their rotation", async () => {
  const h = await harness({ keys: [older] });
  const untouched = await h.engine.inspect();
  expect(untouched).toMatchObject({ secrets: { key: "unused", sealed: 0, older: 0 }, owned: false });

  await h.engine.boot({});
  await h.agent();
  const { secrets, owned } = await h.engine.inspect();
  // The known text, the agent's key and its Web channel.
  expect(secrets).toEqual({ key: "right", sealed: 3, older: 0, short: [], shortKeys: [] });
  expect(owned).toBe(true);
  expect((await (await under(h, newer)).inspect()).secrets).toEqual({
    key: "wrong",
    sealed: 3,
    older: 3,
    short: [],
    shortKeys: [],
  });

  const both = await under(h, newer, older);
  expect((await both.inspect()).secrets).toEqual({ key: "right", sealed: 3, older: 3, short: [], shortKeys: [] });
  expect(await both.rotateKey()).toEqual({ resealed: 3, total: 3 });
  expect((await both.inspect()).secrets).toEqual({ key: "right", sealed: 3, older: 0, short: [], shortKeys: [] });
  expect(await both.rotateKey()).toEqual({ resealed: 0, total: 3 });
  await expect((await under(h, older)).rotateKey()).rejects.toThrow("ENCRYPTION_KEY is not the key");
});

test("a key that was stored before keys had a least length works, and its agent is named", async () => {
  const h = await harness();
  const [short] = [await h.agent({ slug: "short" }), await h.agent({ slug: "long" })];
  const { cipher, database } = h.services;
  const [agent] = await database.db.select().from(agents).where(eq(agents.slug, short.slug));
  if (!agent) throw new Error("The agent is missing");
  const sealed = await cipher.seal("k", secretPlace(agent.id, "auth_api_key"));
  await database.db.update(secrets).set(sealed).where(eq(secrets.agentId, agent.id));
  const json = { model: short.slug, messages: [{ role: "user", content: "Hi" }] };
  const headers = { Authorization: "Bearer k" };
  expect((await h.request("/v1/chat/completions", { method: "POST", headers, json })).status).toBe(200);
  expect((await h.engine.inspect()).secrets.shortKeys).toEqual(["short"]);
});
