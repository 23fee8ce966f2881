import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import type { Services } from "../../../src/context/ctx.ts";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { newId } from "../../../src/core/ids.ts";
import { agents, channels, installation, plugins, secrets, skillEnv, skills } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { openWebConfig } from "../../../src/features/channels/index.ts";
import { openSecrets, rotateSecrets, verifyEncryptionKey } from "../../../src/features/secrets/index.ts";
import { type Harness, harness } from "../../harness.ts";
import { plainText } from "../../plain-text.ts";

const key = (fill: number) => new Uint8Array(32).fill(fill);
const older = key(7);
const newer = key(8);
const under = async (h: Harness, ...keys: Uint8Array<ArrayBuffer>[]): Promise<Services> => ({
  ...h.services,
  cipher: await createCipher(keys),
});

async function filled() {
  const h = await harness({ keys: [older] });
  const { db } = h.services.database;
  const { slug, key: authKey, headers } = await h.agent();
  await verifyEncryptionKey(h.services);
  const put = (values: Record<string, string>) =>
    h.request(`/api/instances/${slug}/secrets`, {
      method: "PUT",
      headers,
      json: { secrets: Object.entries(values).map(([name, value]) => ({ key: name, value })) },
    });
  const [agent] = await db.select().from(agents).where(eq(agents.slug, slug));
  if (!agent) throw new Error("No agent");
  const opened = async (services: Services) => {
    const rows = await db.select().from(secrets).where(eq(secrets.agentId, agent.id));
    return Object.fromEntries(await openSecrets(services.cipher, agent.id, rows));
  };
  return { h, db, agent, authKey, put, opened };
}

describe("rotating the encryption key", () => {
  it("re-seals every kind of value, so that the older key can go", async () => {
    const { h, db, agent, authKey, put, opened } = await filled();
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a_${index}`, `value ${index}`]));
    const more = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`b_${index}`, `value ${index}`]));
    await put(many);
    await put(more);
    const organizationId = h.organization.id;
    const { cipher } = h.services;
    await db
      .insert(secrets)
      .values({ organizationId, key: "shared", ...(await cipher.seal("of all", `${organizationId}:shared`)) });
    const skillId = newId();
    await db.insert(skills).values({ id: skillId, organizationId, slug: "s", name: "s" });
    const environment = await cipher.seal("env", `${agent.id}:${skillId}:TOKEN`);
    await db.insert(skillEnv).values({ agentId: agent.id, skillId, key: "TOKEN", ...environment });
    const plugin = await cipher.seal("{}", `${organizationId}:plugin:github`);
    await db
      .insert(plugins)
      .values({ organizationId, namespace: "github", kind: "mcp", keyId: plugin.keyId, config: plugin.ciphertext });

    const both = await under(h, newer, older);
    // The key check, 121 secrets of the agent, one of the organization, the channel, the skill's value, the plugin.
    expect(await rotateSecrets(both)).toBe(1 + 121 + 1 + 1 + 1 + 1);
    expect(await rotateSecrets(both)).toBe(0);

    const alone = await under(h, newer);
    await verifyEncryptionKey(alone);
    expect(await opened(alone)).toEqual({ auth_api_key: authKey, ...many, ...more });
    const [shared] = await db.select().from(secrets).where(eq(secrets.key, "shared"));
    expect(shared && (await alone.cipher.open(shared, `${organizationId}:shared`))).toBe("of all");
    const [env] = await db.select().from(skillEnv);
    expect(env && (await alone.cipher.open(env, `${agent.id}:${skillId}:TOKEN`))).toBe("env");
    const [stored] = await db.select().from(plugins);
    const place = `${organizationId}:plugin:github`;
    expect(stored && (await alone.cipher.open({ keyId: stored.keyId, ciphertext: stored.config }, place))).toBe("{}");
    const [web] = await db.select().from(channels);
    expect(await openWebConfig(alone.cipher, agent.id, web ?? null)).toEqual({
      contextMapping: {},
      allowedOrigins: [],
    });
    const [marked] = await db.select().from(agents);
    expect(new Uint8Array(marked?.authKeyHmac ?? [])).toEqual((await alone.cipher.fingerprints(authKey))[0]);
  });

  it("looks again at a value that changes meanwhile", async () => {
    const { h, put, opened } = await filled();
    await put({ moving: "before" });
    const both = await under(h, newer, older);
    let changed = false;
    const query: Services["database"]["query"] = async (text, parameters) => {
      const rows = await both.database.query<object>(text, parameters);
      if (!changed && /^select .* from secrets/.test(plainText(text))) {
        changed = true;
        await put({ moving: "afterwards" });
      }
      return rows as never;
    };
    await rotateSecrets({ ...both, database: { ...both.database, query } });
    expect(await rotateSecrets(both)).toBe(0);
    expect(await opened(await under(h, newer))).toMatchObject({ moving: "afterwards" });
  });

  it("does the rest and says so when some values open with no key", async () => {
    const { h, db, agent, authKey, put, opened } = await filled();
    await put({ lost: "value-x", kept: "value-y" });
    const stray = await createCipher([key(9)]);
    await db
      .update(secrets)
      .set(await stray.seal("x", `${agent.id}:lost`))
      .where(eq(secrets.key, "lost"));
    const both = await under(h, newer, older);
    await expect(rotateSecrets(both)).rejects.toThrow(
      /^4 stored secrets were re-sealed, but 1 open with no configured key/,
    );
    expect(h.logs.some((line) => line.includes(`${agent.id}:lost`))).toBe(true);
    await db.delete(secrets).where(eq(secrets.key, "lost"));
    expect(await opened(await under(h, newer))).toEqual({ auth_api_key: authKey, kept: "value-y" });
  });

  it("finds keys that are marked under the older encryption key", async () => {
    const { h, authKey } = await filled();
    const both = await harnessWith(h, [newer, older]);
    const answer = await both.put("second", authKey);
    expect(answer.status).toBe(409);
    expect((await both.put("second", "another-key-of-an-agent")).status).toBe(200);
  });
});

/** A second server on the same database, with other encryption keys. */
async function harnessWith(h: Harness, keys: Uint8Array<ArrayBuffer>[]) {
  const { app } = createEngine(await under(h, ...keys));
  const headers = { ...(await h.as("owner")), "Content-Type": "application/json" };
  const call = (path: string, method: string, json: unknown) =>
    app.request(path, { method, headers, body: JSON.stringify(json) }, { remoteAddress: "192.0.2.1" });
  const put = async (slug: string, value: string) => {
    await call("/api/instances", "POST", { slug });
    return call(`/api/instances/${slug}/secrets`, "PUT", { secrets: [{ key: "auth_api_key", value }] });
  };
  return { put };
}

describe("the check of the encryption key", () => {
  it("passes with the key of the first start, and with it as the previous one", async () => {
    const h = await harness({ keys: [older] });
    await Promise.all([verifyEncryptionKey(h.services), verifyEncryptionKey(h.services)]);
    await verifyEncryptionKey(h.services);
    await verifyEncryptionKey(await under(h, newer, older));
    expect(await h.services.database.db.select().from(installation)).toHaveLength(1);
  });

  it("refuses another key and says what to do", async () => {
    const h = await harness({ keys: [older] });
    await verifyEncryptionKey(h.services);
    await expect(verifyEncryptionKey(await under(h, newer))).rejects.toThrow(
      "ENCRYPTION_KEY is not the key that this database's secrets were sealed with",
    );
    await verifyEncryptionKey(h.services);
  });
});
