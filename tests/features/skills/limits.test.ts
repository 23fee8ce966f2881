import { describe, expect, it } from "vitest";
import { catalogue, kitchen, read, refunds, refusal } from "./skills.ts";

const url = `${catalogue}/catalog/import`;

const statuses = async (answers: readonly Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status).sort();

describe("an organization", () => {
  it("has at most 500 skills, also when many are added at once", async () => {
    const { send, create } = await kitchen();
    const named = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...refunds, name: `s${from + n}` }));
    await read(send("POST", url, { skills: named(0, 499) }));
    const full = "An organization has at most 500 skills: delete some first";
    expect(await refusal(send("POST", url, { skills: named(498, 3) }))).toEqual([409, full]);
    const others = Array.from({ length: 8 }, (_, n) => send("POST", url, { skills: named(600 + n, 1) }));
    expect(await statuses(others)).toEqual([201, ...Array(7).fill(409)]);
    expect(await refusal(create({ name: "three" }))).toEqual([409, full]);
    // Existing skills can still be changed.
    expect((await send("PUT", `${catalogue}/s0`, { ...refunds, name: "s0", content: "new" })).status).toBe(200);
    expect(await read(send("POST", url, { skills: named(0, 2) }))).toMatchObject({ updated: 1, skipped: 1 });
    await send("DELETE", `${catalogue}/s0`);
    const many = Array.from({ length: 8 }, (_, n) => create({ name: `many ${n}` }));
    expect(await statuses(many)).toEqual([201, ...Array(7).fill(409)]);
    expect((await read<{ skills: unknown[] }>(send("GET", catalogue))).skills).toHaveLength(500);
  });
});

describe("the skills of an organization", () => {
  it("have at most 16 MiB in all, and changes that make them smaller are never refused", async () => {
    const { h, send, create } = await kitchen();
    const large = "x".repeat(250_000);
    const named = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...refunds, name: `s${from + n}`, content: large }));
    await read(send("POST", url, { skills: named(0, 30) }));
    await read(send("POST", url, { skills: named(30, 30) }));
    const full = [
      409,
      "An organization's skills have at most 16 MiB of content and requirements in all: shorten or delete some first",
    ];
    expect(await refusal(send("POST", url, { skills: named(60, 8) }))).toEqual(full);
    await read(send("POST", url, { skills: named(60, 6) }));
    const atOnce = Array.from({ length: 8 }, (_, n) => create({ name: `many ${n}`, content: large }));
    expect(await statuses(atOnce)).toEqual([201, ...Array(7).fill(409)]);
    const save = (content: string) => send("PUT", `${catalogue}/s0`, { ...refunds, name: "s0", content });
    expect(await refusal(save("ü".repeat(250_000)))).toEqual(full);
    const requiredEnv = Array.from({ length: 64 }, (_, n) => ({ name: `N${n}`, description: "x".repeat(1_000) }));
    expect(await refusal(create({ requiredEnv }))).toEqual(full);

    await h.services.database.query("update skill_versions set content = repeat('x', 262144)", []);
    expect((await save(large)).status).toBe(200);
    expect((await create()).status).toBe(409);
  });
});

describe("a skill", () => {
  it("has at most 500 versions, also when many are added at once", async () => {
    const { send } = await kitchen();
    const { name, ...last } = refunds;
    const history = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        ...last,
        version: `0.${n}.0`,
        ...(n < count - 1 && { content: "x" }),
      }));
    const full = [
      409,
      "A skill has at most 500 versions: make another skill, or delete refunds and import its export without the oldest ones",
    ];
    const grown = { ...refunds, content: "new" };
    expect(await refusal(send("POST", url, { skills: [{ ...grown, versions: history(500) }] }))).toEqual(full);
    await read(send("POST", url, { skills: [{ ...refunds, versions: history(499) }] }));
    const save = (content: string) => send("PUT", `${catalogue}/refunds`, { ...refunds, content });
    expect(await statuses([save("one"), save("two")])).toEqual([200, 409]);
    expect(await refusal(save("three"))).toEqual(full);
    expect(await refusal(send("POST", url, { skills: [grown] }))).toEqual(full);
    const { versions } = await read<{ versions: unknown[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions).toHaveLength(500);

    // As the message says.
    const exported = await read<{ skills: { versions: unknown[] }[] }>(send("GET", `${catalogue}/refunds/export`));
    expect(await read(send("POST", url, exported))).toMatchObject({ created: 0, updated: 0, skipped: 1 });
    exported.skills[0]?.versions.splice(100);
    await send("DELETE", `${catalogue}/refunds`);
    expect(await read(send("POST", url, exported))).toMatchObject({ created: 1 });
    expect(await read(save("four"))).toMatchObject({ version: "0.500.0" });
  });
});
