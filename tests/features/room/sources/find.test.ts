import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createCipher } from "../../../../src/core/credentials/cipher.ts";
import { agents } from "../../../../src/db/schema.ts";
import { definitionsOf, findSourceByToken } from "../../../../src/features/room/sources/find.ts";
import { rotateSecrets } from "../../../../src/features/secrets/index.ts";
import { withSources } from "./sources.ts";

test("a source is found by its token, along with its webhook's settings", async () => {
  const { create, good, call, services, db, organization } = await withSources();
  const open = await create();
  const guarded = await create({ authKey: "shared" });
  const [row] = await db.select().from(agents).where(eq(agents.slug, "one"));
  const { id: organizationId, workspaceId } = organization;
  const agent = { id: row?.id, slug: "one", name: "one", organizationId, workspaceId, iconVersion: null };
  const found = { name: "Issues", agent, enabled: true, active: true };
  expect(await findSourceByToken(services, open.webhookToken)).toEqual({ ...found, id: open.id, authKey: null });
  const other = { ...found, id: guarded.id, authKey: "shared" };
  expect(await findSourceByToken(services, guarded.webhookToken)).toEqual(other);
  await good(200, "PUT", `one/event-sources/${guarded.id}`, { enabled: false });
  expect((await call("PATCH", "one", { active: false })).status).toBe(200);
  const off = { ...other, enabled: false, active: false };
  expect(await findSourceByToken(services, guarded.webhookToken)).toEqual(off);
  await good(200, "DELETE", `one/event-sources/${open.id}`);
  expect(await findSourceByToken(services, open.webhookToken)).toBe(null);
});

test("a text that is no token asks no database, and only a source with a key is decrypted", async () => {
  const { create, services } = await withSources();
  const { webhookToken } = await create();
  const asked = { ...services.database, db: null as never };
  const refused = { ...services.cipher, open: () => Promise.reject(new Error("opened")) };
  for (const text of ["", "telegram", `${webhookToken}x`, webhookToken.slice(1), `${webhookToken.slice(1)}=`]) {
    expect(await findSourceByToken({ database: asked, cipher: refused }, text)).toBe(null);
  }
  expect(await findSourceByToken({ ...services, cipher: refused }, webhookToken)).toMatchObject({ authKey: null });
  const guarded = await create({ authKey: "shared" });
  await expect(findSourceByToken({ ...services, cipher: refused }, guarded.webhookToken)).rejects.toThrow("opened");
});

test("the matcher gets the definitions that are on, in their order", async () => {
  const { create, define, db } = await withSources();
  const { id } = await create();
  const last = await define(id, { priority: 5 });
  await define(id, { enabled: false });
  const first = await define(id, { priority: 1, conditions: [{ path: "a", equals: true }] });
  await define((await create()).id);
  const found = await definitionsOf(db, id);
  expect(found.map((definition) => definition.id)).toEqual([first.id, last.id]);
  expect(found[0]).toMatchObject({ conditions: [{ path: "a", equals: true }], matchingPrompt: "A bug" });
});

test("another encryption key re-seals sources, and they are found as before", async () => {
  const { create, services } = await withSources();
  const { id, webhookToken } = await create({ authKey: "shared" });
  const [newer, older] = [new Uint8Array(32).fill(9), new Uint8Array(32).fill(7)];
  expect(await rotateSecrets({ ...services, cipher: await createCipher([newer, older]) })).toBe(1);
  const alone = { ...services, cipher: await createCipher([newer]) };
  expect(await findSourceByToken(alone, webhookToken)).toMatchObject({ id, authKey: "shared" });
});
