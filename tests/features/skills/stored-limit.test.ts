import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { catalogue, kitchen, read, refunds, refusal } from "./skills.ts";

vi.mock(import("../../../src/features/skills/rules.ts"), async (original) => ({
  ...(await original()),
  mostStoredBytes: 1024 * 1024,
}));

const url = `${catalogue}/catalog/import`;

test("the versions of all skills of an organization have a bound in the database, with the scripts of each", async () => {
  const { h, send, create } = await kitchen();
  // Random content, which a database can't compress much.
  const content = randomBytes(96 * 1024).toString("base64");
  const scripts = [{ file: "a.js", content }];
  await read(send("POST", url, { skills: [{ ...refunds, scripts }] }));
  const full = [
    409,
    "An organization's skills have at most 1 MiB in the database with the scripts of all versions: delete one, and import its export without the oldest versions if you need it",
  ];
  const save = (text: string) => send("PUT", `${catalogue}/refunds`, { ...refunds, content: text });
  const statuses: number[] = [];
  for (let n = 0; n < 7; n += 1) statuses.push((await save(`${n}`)).status);
  // Each one has its copy of the scripts, 128 KiB in Base64.
  expect(statuses).toEqual([...Array(6).fill(200), 409]);
  expect(await refusal(save("again"))).toEqual(full);
  const other = { ...refunds, name: "Other", scripts };
  expect(await refusal(send("POST", url, { skills: [other] }))).toEqual(full);
  expect((await create({ name: "Small" })).status).toBe(201);

  // As the message says.
  const exported = await read<{ skills: { versions: unknown[] }[] }>(send("GET", `${catalogue}/refunds/export`));
  exported.skills[0]?.versions.splice(2);
  await send("DELETE", `${catalogue}/refunds`);
  expect(await read(send("POST", url, exported))).toMatchObject({ created: 1 });
  expect(await read(send("POST", url, { skills: [other] }))).toMatchObject({ created: 1 });

  // A larger skill of an earlier release can be deleted, and can't grow.
  await h.services.database.query(
    "update skill_versions set content = (select string_agg(md5(n::text), '') from generate_series(1, 60000) n) where version = '0.1.0'",
    [],
  );
  expect((await send("DELETE", `${catalogue}/other`)).status).toBe(200);
  expect((await save("grown")).status).toBe(409);
});

test("the other fields of a version count, besides its content and scripts", async () => {
  const { send, create } = await kitchen();
  const requiredEnv = Array.from({ length: 64 }, (_, n) => ({
    name: `V${n}`,
    description: randomBytes(750).toString("base64"),
  }));
  expect((await create({ requiredEnv })).status).toBe(201);
  const statuses: number[] = [];
  for (let n = 0; n < 20; n += 1) {
    statuses.push((await send("PUT", `${catalogue}/refunds`, { ...refunds, requiredEnv, content: `${n}` })).status);
  }
  // Each has some 64 KiB of descriptions.
  expect([statuses[0], statuses.at(-1)]).toEqual([200, 409]);
});
