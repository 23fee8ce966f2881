import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { auditLogs, secrets } from "../../../src/db/schema.ts";
import { createEngine } from "../../../src/engine.ts";
import { forgetSecrets, verifyEncryptionKey } from "../../../src/features/secrets/index.ts";
import { harness } from "../../harness.ts";

const key = (fill: number) => new Uint8Array(32).fill(fill);

/** An agent with a secret, a messenger, an event source with a key and a plugin, all sealed with the first key. */
async function sealed() {
  const h = await harness({ keys: [key(7)] });
  const { slug, headers } = await h.agent();
  await verifyEncryptionKey(h.services);
  const call = (method: string, path: string, json: object) => h.request(path, { method, headers, json });
  const of = `/api/instances/${slug}`;
  await call("PUT", `${of}/secrets`, { secrets: [{ key: "openai_api_key", value: "sk-of-the-agent" }] });
  const telegram = { config: { botToken: `4711:${"a".repeat(35)}`, transport: "polling" }, enabled: false };
  expect((await call("PUT", `${of}/channels/telegram`, telegram)).status).toBe(200);
  const source = { name: "Shop", sourceType: "shop", authKey: "a-key-of-the-shop" };
  const { webhookUrl } = (await (await call("POST", `${of}/event-sources`, source)).json()) as { webhookUrl: string };
  const plugin = { kind: "mcp", transport: { type: "http", url: "https://mcp.example/", headers: {} }, enabled: false };
  const plugins = `/api/organizations/${h.organization.slug}/plugins/notes`;
  expect((await call("PUT", plugins, plugin)).status).toBe(200);
  const services = { ...h.services, cipher: await createCipher([key(8)]) };
  const { app } = createEngine(services);
  const read = async (path: string) => {
    const answer = await app.request(path, { headers: await h.as("owner") }, { remoteAddress: "192.0.2.1" });
    return { status: answer.status, body: await answer.json() };
  };
  return { h, of, slug, services, read, webhookUrl, plugins };
}

const names = (slug: string, organization: string) => [
  `plugin notes of organization ${organization}`,
  `secret auth_api_key of agent ${slug}`,
  `secret openai_api_key of agent ${slug}`,
  `settings of the channel telegram of agent ${slug}`,
  `settings of the channel web of agent ${slug}`,
  `webhook address of the event source Shop of agent ${slug}`,
];

test("the values of a lost key are named, and dropped when that is wanted; everything else opens", async () => {
  const { h, of, slug, services, read, webhookUrl, plugins } = await sealed();
  await expect(verifyEncryptionKey(services)).rejects.toThrow("agent-engine forget-secrets opens the rest");
  const lost = names(slug, h.organization.slug);
  const asked: (readonly string[])[] = [];
  const answer = (may: boolean) =>
    forgetSecrets(services, async (wanted) => {
      asked.push(wanted);
      return may;
    });
  expect(await answer(false)).toBeNull();
  await expect(verifyEncryptionKey(services)).rejects.toThrow();
  expect(await answer(true)).toEqual(lost);
  expect(asked).toEqual([lost, lost]);

  await verifyEncryptionKey(services);
  expect((await read(`${of}/secrets`)).body).toMatchObject({
    secrets: expect.arrayContaining([{ key: "openai_api_key", configured: false }]),
  });
  const { channels } = (await read(`${of}/channels`)).body as { channels: object[] };
  expect(channels).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ channelType: "telegram", enabled: false }),
      expect.objectContaining({ channelType: "web", enabled: true }),
    ]),
  );
  const [source] = (await read(`${of}/event-sources`)).body as { webhookUrl: string }[];
  expect(source).toMatchObject({ name: "Shop", enabled: false, authKeyConfigured: false });
  expect(source?.webhookUrl).not.toBe(webhookUrl);
  expect((await read(plugins)).status).toBe(404);
  expect((await read(of)).status).toBe(200);
  const [entry] = await h.services.database.db
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.action, "encryption-key.forget"));
  expect(entry).toMatchObject({ success: true, actorType: "system", organizationId: null });
  expect(await forgetSecrets(services, async () => false)).toEqual([]);
});

test("values that a configured key opens stay", async () => {
  const { h, services } = await sealed();
  const both = { ...services, cipher: await createCipher([key(8), key(7)]) };
  expect(await forgetSecrets(both, async () => false)).toEqual([]);
  const [stray] = await h.services.database.db.select().from(secrets).where(eq(secrets.key, "openai_api_key"));
  if (!stray) throw new Error("No secret");
  const strayCipher = await createCipher([key(9)]);
  const place = `${stray.agentId}:openai_api_key`;
  await h.services.database.db
    .update(secrets)
    .set(await strayCipher.seal("sk-stray-value", place))
    .where(eq(secrets.id, stray.id));
  expect(await forgetSecrets(both, async () => true)).toHaveLength(1);
  const kept = await h.services.database.db.select().from(secrets);
  expect(kept.map((one) => one.key)).toEqual(["auth_api_key"]);
});
