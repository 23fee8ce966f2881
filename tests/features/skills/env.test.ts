import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCipher } from "../../../src/core/credentials/cipher.ts";
import { auditLogs, skillEnv } from "../../../src/db/schema.ts";
import { rotateSecrets } from "../../../src/features/secrets/index.ts";
import { envPlace } from "../../../src/features/skills/env/load.ts";
import { loadSkills } from "../../../src/features/skills/index.ts";
import { agentRow, catalogue, type Fields, kitchen, read, refunds, refusal } from "./skills.ts";

const url = "/api/instances/bot/skills/refunds/env";
const requiredEnv = [
  { name: "TOKEN", description: "The token.", sensitive: true, hosts: ["api.example.com"] },
  { name: "REGION", sensitive: false },
];

interface Entry {
  key: string;
  value: string;
  sensitive: boolean;
  configured: boolean;
  description: string;
}

async function withSkill() {
  const k = await kitchen();
  await k.agent("bot");
  await k.offer({ requiredEnv });
  await k.enable("bot", ["refunds"]);
  const list = async () => (await read<{ env: Entry[] }>(k.send("GET", url))).env;
  const put = (...env: unknown[]) => k.send("PUT", url, { env });
  const remove = (key: string) => k.send("DELETE", `${url}/${encodeURIComponent(key)}`);
  const skill = async () => (await read<{ skills: Fields[] }>(k.send("GET", "/api/instances/bot/skills"))).skills[0];
  /** The values for a turn, by key. */
  const served = async () => {
    const { id, workspaceId } = await agentRow(k.h, "bot");
    const { env } = await loadSkills(k.h.services.database.db, k.h.services, { agentId: id, workspaceId });
    return Object.fromEntries(env.map(({ key, value }) => [key, value]));
  };
  /** All stored values by key, whatever the pinned version declares. */
  const stored = async (cipher = k.h.services.cipher) => {
    const rows = await k.h.services.database.db.select().from(skillEnv).orderBy(skillEnv.key);
    const open = rows.map(async (row) => [
      row.key,
      await cipher.open(row, envPlace(row.agentId, row.skillId, row.key)),
    ]);
    return Object.fromEntries(await Promise.all(open)) as Record<string, string>;
  };
  return { ...k, list, put, remove, skill, served, stored };
}

describe("the variables of a skill", () => {
  it("are the ones it asks for, and then the other stored ones", async () => {
    const { put, list, skill } = await withSkill();
    const token = { key: "TOKEN", value: "", sensitive: true, configured: false, description: "The token." };
    const region = { key: "REGION", value: "", sensitive: false, configured: false, description: "" };
    expect(await list()).toEqual([token, region]);
    expect(await skill()).toMatchObject({ envConfigured: false, missingEnv: ["TOKEN", "REGION"] });
    const answer = await put(
      { key: "ZETA", value: "z", sensitive: false },
      { key: "REGION", value: "eu" },
      { key: "ALPHA", value: "hidden" },
    );
    const extra = { configured: true, description: "" };
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        env: [
          token,
          { ...region, value: "eu", configured: true },
          { key: "ALPHA", value: "", sensitive: true, ...extra },
          { key: "ZETA", value: "z", sensitive: false, ...extra },
        ],
      },
    ]);
    expect(await skill()).toMatchObject({ envConfigured: false, missingEnv: ["TOKEN"] });
    await put({ key: "TOKEN", value: "canary", sensitive: true });
    expect(await skill()).toMatchObject({ envConfigured: true, missingEnv: [] });
  });

  it("merge; an empty sensitive value is skipped, an empty plain one is stored", async () => {
    const { put, list, served, stored } = await withSkill();
    await put({ key: "TOKEN", value: "value-one", sensitive: true }, { key: "REGION", value: "eu", sensitive: false });
    await put({ key: "TOKEN", value: "", sensitive: true }, { key: "OTHER", value: "canary-x", sensitive: true });
    expect(await stored()).toEqual({ TOKEN: "value-one", REGION: "eu", OTHER: "canary-x" });
    expect(await served()).toEqual({ TOKEN: "value-one", REGION: "eu", OTHER: "canary-x" });
    await put({ key: "REGION", value: "", sensitive: false }, { key: "NEVER", value: "", sensitive: true });
    expect((await put()).status).toBe(200);
    expect(await stored()).toEqual({ TOKEN: "value-one", REGION: "", OTHER: "canary-x" });
    expect((await list()).find(({ key }) => key === "REGION")).toMatchObject({ value: "", configured: true });
  });

  it("are sensitive when the skill says so, whatever is sent, and stay so when nothing is said", async () => {
    const { put, list } = await withSkill();
    await put(
      { key: "TOKEN", value: "canary-1", sensitive: false },
      { key: "OTHER", value: "canary-2", sensitive: true },
    );
    await put({ key: "TOKEN", value: "", sensitive: false }, { key: "OTHER", value: "canary-3" });
    const shown = await list();
    expect(JSON.stringify(shown)).not.toContain("canary");
    expect(shown.filter(({ configured }) => configured).map(({ key, sensitive }) => [key, sensitive])).toEqual([
      ["TOKEN", true],
      ["OTHER", true],
    ]);
    await put({ key: "OTHER", value: "open", sensitive: false });
    expect((await list()).find(({ key }) => key === "OTHER")).toMatchObject({ value: "open", sensitive: false });
    await put({ key: "OTHER", value: "hidden", sensitive: true });
    await put({ key: "OTHER", value: "", sensitive: false });
    expect((await list()).find(({ key }) => key === "OTHER")).toMatchObject({ value: "", sensitive: false });
  });

  it("may have any text as a key, and are deleted by it, again and again", async () => {
    const { put, remove, stored } = await withSkill();
    const keys = [
      "a/b",
      "100%",
      "%2F",
      "a b",
      "ключ",
      "🙂",
      "{{x}}",
      "__proto__",
      "a.b",
      "?#&",
      "\n",
      "...",
      '"',
      "\\",
      "'",
    ];
    expect((await put(...keys.map((key) => ({ key, value: key, sensitive: false })))).status).toBe(200);
    expect(Object.keys(await stored()).sort()).toEqual([...keys].sort());
    for (const key of keys) {
      for (const _ of [1, 2]) {
        const answer = await remove(key);
        expect([key, answer.status, await answer.json()]).toEqual([key, 200, { deleted: true }]);
      }
    }
    expect(await stored()).toEqual({});
  });

  it("survive the path's encoding, whatever their key", async () => {
    const { h, put, remove } = await withSkill();
    const key = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(
        key.filter((text) => !text.includes("\0") && text.isWellFormed() && !/^\.\.?$/.test(text)),
        async (name) => {
          await put({ key: name, value: "canary" });
          await remove(name);
          expect(await h.services.database.db.select().from(skillEnv)).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("refuse what can't be one, and change nothing", async () => {
    const { send, put, remove, stored } = await withSkill();
    const wrong: [unknown, string][] = [
      [{ key: "", value: "x" }, "env.0.key: must not be empty"],
      [{ key: "x".repeat(129), value: "x" }, "env.0.key: must be at most 128 characters"],
      [{ key: "..", value: "x" }, "env.0.key: must not be . or .."],
      [{ key: "\0", value: "x" }, "env.0.key: must not contain NUL"],
      [{ key: "A" }, "env.0.value: "],
      [{ key: "A", value: 5 }, "env.0.value: "],
      [{ key: "A", value: "x".repeat(8193) }, "env.0.value: must be at most 8192 characters"],
      [{ key: "A", value: "\ud800" }, "env.0.value: must not contain NUL"],
      [{ key: "A", value: "x", sensitive: "yes" }, "env.0.sensitive: "],
      [null, "env.0: "],
      [{ key: "A", value: "12345" }, "env.0.value: must have at least 6 characters"],
      [{ key: "A", value: " 1234 ", sensitive: true }, "env.0.value: must have at least 6 characters"],
      [{ key: "TOKEN", value: "12345", sensitive: false }, "env.0.value: must have at least 6 characters"],
    ];
    for (const [item, message] of wrong) {
      const [status, said] = await refusal(put(item));
      expect([item, status, said.startsWith(message)]).toEqual([item, 400, true]);
    }
    const a = { key: "A", value: "x" };
    expect(await refusal(put(a, a))).toEqual([400, "env: must not name a key twice"]);
    const many = Array.from({ length: 65 }, (_, n) => ({ key: `K${n}`, value: "x" }));
    expect(await refusal(put(...many))).toEqual([400, "env: must have at most 64 entries"]);
    expect((await send("PUT", url, { env: a })).status).toBe(400);
    expect((await remove("\0")).status).toBe(400);
    expect(await stored()).toEqual({});
  });

  it("are at most 256 for one skill", async () => {
    const { put, stored } = await withSkill();
    const block = (from: number, size: number) =>
      Array.from({ length: size }, (_, n) => ({ key: `K${from + n}`, value: "canary" }));
    for (const from of [0, 64, 128, 192]) expect((await put(...block(from, 64))).status).toBe(200);
    expect(await refusal(put({ key: "ONE MORE", value: "canary" }))).toEqual([
      400,
      "env: an agent keeps at most 256 variables of a skill; delete some first",
    ]);
    expect(Object.keys(await stored())).toHaveLength(256);
  });

  it("stay when the skill is turned off, and go when it is deleted", async () => {
    const { h, put, enable, served, send, offer } = await withSkill();
    await put({ key: "TOKEN", value: "canary" });
    await enable("bot", []);
    expect(await served()).toEqual({ TOKEN: "canary" });
    await enable("bot", ["refunds"]);
    expect(await served()).toEqual({ TOKEN: "canary" });
    await send("DELETE", `${catalogue}/refunds`);
    expect(await h.services.database.db.select().from(skillEnv)).toEqual([]);
    await offer();
    await enable("bot", ["refunds"]);
    expect(await served()).toEqual({});
  });

  it("are 404 for a skill that is not there, another organization's too", async () => {
    const { h, send } = await withSkill();
    const other = await h.createOrganization("globex");
    const stranger = await h.as("owner", { organization: other });
    await send("POST", "/api/organizations/globex/skills", { ...refunds, name: "Theirs" }, stranger);
    for (const slug of ["theirs", "nothing", "%00", "Refunds"]) {
      const path = `/api/instances/bot/skills/${slug}/env`;
      expect(await refusal(send("GET", path))).toEqual([404, "Skill not found"]);
      for (const env of [[], [{ key: "A", value: "" }], [{ key: "A", value: "canary" }]]) {
        expect(await refusal(send("PUT", path, { env }))).toEqual([404, "Skill not found"]);
      }
      expect(await refusal(send("DELETE", `${path}/A`))).toEqual([404, "Skill not found"]);
    }
    expect(await refusal(send("GET", url, undefined, stranger))).toEqual([404, "Agent not found"]);
  });
});

describe("a sensitive value", () => {
  it("is in no answer, no log, no audit entry, and not readable in the database", async () => {
    const { h, put, send, disallow, allow, remove } = await withSkill();
    const canary = "canary-5f2c9a7e1d";
    const bodies: string[] = [];
    const keep = async (answer: Response | Promise<Response>) => bodies.push(await (await answer).text());
    await keep(put({ key: "TOKEN", value: canary, sensitive: true }));
    await keep(put({ key: "TOKEN", value: canary, sensitive: true }, { key: "BAD", value: 5 }));
    await keep(put({ key: "", value: canary, sensitive: true }));
    await keep(put({ key: "LONG", value: canary.repeat(1000), sensitive: true }));
    for (const path of [
      url,
      "/api/instances/bot/skills",
      "/api/instances/bot",
      catalogue,
      `${catalogue}/refunds/export`,
    ]) {
      await keep(send("GET", path));
    }
    await keep(disallow("refunds"));
    await keep(allow("refunds"));
    await keep(remove("TOKEN"));
    await keep(put({ key: "TOKEN", value: canary }));
    expect(bodies.join("\n")).toContain('"configured":true');
    expect(bodies.filter((body) => body.includes(canary))).toEqual([]);
    expect(h.logs.filter((line) => line.includes(canary))).toEqual([]);
    const audit = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    const envEntries = audit.filter(({ action }) => action.startsWith("agent.skill.env"));
    expect(envEntries.map(({ summary }) => summary)).toContainEqual({ skill: "refunds", keys: ["TOKEN"] });
    expect(JSON.stringify(audit)).not.toContain(canary);
    const [row] = await h.services.database.db.select().from(skillEnv).where(eq(skillEnv.key, "TOKEN"));
    expect(new TextDecoder().decode(row?.ciphertext)).not.toContain(canary);
  });

  it("opens in its own row only", async () => {
    const { h, put, served } = await withSkill();
    await put({ key: "TOKEN", value: "value-one" }, { key: "OTHER", value: "value-two" });
    const { db } = h.services.database;
    const [other] = await db.select().from(skillEnv).where(eq(skillEnv.key, "OTHER"));
    if (!other) throw new Error("No such row");
    await db.update(skillEnv).set({ ciphertext: other.ciphertext }).where(eq(skillEnv.key, "TOKEN"));
    await expect(served()).rejects.toThrow("A stored secret does not open with its key");
  });

  it("is sealed anew when the encryption key changes", async () => {
    const { h, put, stored } = await withSkill();
    await put({ key: "TOKEN", value: "value-one" }, { key: "a:b/c", value: "value-two" });
    const [old, fresh] = [new Uint8Array(32).fill(7), new Uint8Array(32).fill(8)];
    const cipher = await createCipher([fresh, old]);
    await rotateSecrets({ ...h.services, cipher });
    expect(await stored(await createCipher([fresh]))).toEqual({ TOKEN: "value-one", "a:b/c": "value-two" });
  });
});
