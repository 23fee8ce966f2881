import { expect, test } from "vitest";
import type { Services } from "../../../src/context.ts";
import { createCipher } from "../../../src/core/cipher.ts";
import { createEngine } from "../../../src/engine.ts";
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
  expect(secrets).toEqual({ key: "right", sealed: 3, older: 0, short: [] });
  expect(owned).toBe(true);
  expect((await (await under(h, newer)).inspect()).secrets).toEqual({ key: "wrong", sealed: 3, older: 3, short: [] });

  const both = await under(h, newer, older);
  expect((await both.inspect()).secrets).toEqual({ key: "right", sealed: 3, older: 3, short: [] });
  expect(await both.rotateKey()).toEqual({ resealed: 3, total: 3 });
  expect((await both.inspect()).secrets).toEqual({ key: "right", sealed: 3, older: 0, short: [] });
  expect(await both.rotateKey()).toEqual({ resealed: 0, total: 3 });
  await expect((await under(h, older)).rotateKey()).rejects.toThrow("ENCRYPTION_KEY is not the key");
});
