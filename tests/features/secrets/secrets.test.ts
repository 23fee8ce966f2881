import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agents, auditLogs, secrets } from "../../../src/db/schema.ts";
import { openSecrets } from "../../../src/features/secrets/index.ts";
import { type Harness, harness } from "../../harness.ts";

type Headers = Record<string, string>;
interface Entry {
  key: string;
  configured: boolean;
}

async function withAgents(...slugs: string[]) {
  const h = await harness();
  const headers = await h.as("owner");
  for (const slug of slugs) await h.request("/api/instances", { method: "POST", headers, json: { slug } });
  return { h, headers };
}

const url = (slug: string) => `/api/instances/${slug}/secrets`;
const put = (h: Harness, headers: Headers, slug: string, values: Record<string, string>) =>
  h.request(url(slug), {
    method: "PUT",
    headers,
    json: { secrets: Object.entries(values).map(([key, value]) => ({ key, value })) },
  });
const configured = async (h: Harness, headers: Headers, slug: string) => {
  const body = (await (await h.request(url(slug), { headers })).json()) as { secrets: Entry[] };
  return body.secrets.filter((entry) => entry.configured).map(({ key }) => key);
};
const remove = (h: Harness, headers: Headers, slug: string, key: string) =>
  h.request(`${url(slug)}/${key}`, { method: "DELETE", headers });

async function agentRow(h: Harness, slug: string) {
  const [row] = await h.services.database.db.select().from(agents).where(eq(agents.slug, slug));
  if (!row) throw new Error("No such agent");
  return row;
}

async function values(h: Harness, slug: string) {
  const { id } = await agentRow(h, slug);
  const rows = await h.services.database.db.select().from(secrets).where(eq(secrets.agentId, id));
  return Object.fromEntries(await openSecrets(h.services.cipher, id, rows));
}

describe("storing secrets", () => {
  it("lists the well-known keys and the agent's own, without a value", async () => {
    const { h, headers } = await withAgents("one");
    const before = (await (await h.request(url("one"), { headers })).json()) as { secrets: Entry[] };
    expect(before.secrets).toHaveLength(17);
    expect(before.secrets.every((entry) => !entry.configured)).toBe(true);
    const answer = await put(h, headers, "one", {
      zeta: "value-z",
      openai_api_key: "value-sk-1",
      __proto__x: "value-p",
      constructor: "value-c",
    });
    expect(answer.status).toBe(200);
    const after = (await answer.json()) as { secrets: Entry[] };
    expect(after.secrets.slice(0, 17).map(({ key }) => key)).toEqual(before.secrets.map(({ key }) => key));
    expect(after.secrets.slice(17)).toEqual([
      { key: "__proto__x", configured: true },
      { key: "constructor", configured: true },
      { key: "zeta", configured: true },
    ]);
    expect(after.secrets[2]).toEqual({ key: "openai_api_key", configured: true });
  });

  it("merges, replaces equal keys and skips empty values", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { a: "value-1", b: "value-2" });
    await put(h, headers, "one", { b: "value-two", c: "value-3", a: "" });
    expect(await values(h, "one")).toEqual({ a: "value-1", b: "value-two", c: "value-3" });
    expect((await put(h, headers, "one", { never: "" })).status).toBe(200);
    expect(await configured(h, headers, "one")).toEqual(["a", "b", "c"]);
  });

  it("leaves a value alone that is stored already, and names in the audit log what changed", async () => {
    const { h, headers } = await withAgents("one");
    const rows = async () =>
      (await h.services.database.db.select().from(secrets)).toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await put(h, headers, "one", { a: "value-1", b: "value-2" });
    const [before] = await rows();
    await put(h, headers, "one", { a: "value-1", b: "value-2" });
    await put(h, headers, "one", { a: "value-1", b: "value-two" });
    expect((await rows())[0]).toEqual(before);
    const answer = await h.request("/api/audit-logs?action=agent.secret.update", { headers });
    const { items } = (await answer.json()) as { items: { details: { keys: string[] } }[] };
    expect(items.map(({ details }) => details.keys)).toEqual([["b"], ["a", "b"]]);
  });

  it("takes 64 of them at once, whatever is in them", async () => {
    const { h, headers } = await withAgents("one");
    const many = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`key_${index}`, `${"☃".repeat(1300)}${index}`]),
    );
    expect((await put(h, headers, "one", many)).status).toBe(200);
    expect(await values(h, "one")).toEqual(many);
  });

  it("keeps 256 KiB of an agent, its skills' variables among them, and not a byte more", async () => {
    const { h, headers } = await withAgents("one", "two");
    const skills = "/api/organizations/acme/skills";
    await h.request(skills, { method: "POST", headers, json: { name: "Tea", description: "Tea.", content: "Tea." } });
    const putEnv = (value: string) =>
      h.request("/api/instances/one/skills/tea/env", { method: "PUT", headers, json: { env: [{ key: "A", value }] } });
    const room = 8192 - 28;
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key_${index}`, "k".repeat(room)]));
    expect((await put(h, headers, "one", many)).status).toBe(200);
    expect((await putEnv("e".repeat(room))).status).toBe(200);
    // In UTF-8 its size is exactly the remaining room.
    const last = "é".repeat(room / 2);
    expect((await put(h, headers, "one", { last })).status).toBe(200);
    for (const answer of [
      await put(h, headers, "one", { last: `${last}x`, other: "" }),
      await put(h, headers, "one", { more: "value-x" }),
      await putEnv("e".repeat(room + 1)),
    ]) {
      expect([answer.status, (await answer.json()).message]).toEqual([
        400,
        "An agent keeps at most 262144 bytes of secrets and variables of skills, 28 added to each by encryption; delete some first",
      ]);
    }
    expect(await values(h, "one")).toEqual({ ...many, last });
    expect((await put(h, headers, "two", { more: "value-x" })).status).toBe(200);
    await remove(h, headers, "one", "key_0");
    expect((await putEnv("e".repeat(room + 1))).status).toBe(200);
  });

  it("takes an address and the name of a place in any length", async () => {
    const { h, headers } = await withAgents("one");
    const short = { s3_bucket: "pub", s3_region: "eu" };
    expect((await put(h, headers, "one", short)).status).toBe(200);
    expect(await values(h, "one")).toEqual(short);
  });

  it("refuses invalid values, by their index", async () => {
    const { h, headers } = await withAgents("one");
    const bad: [unknown, string][] = [
      [{}, "secrets: "],
      [{ secrets: [] }, "secrets: must name at least one secret"],
      [
        { secrets: Array.from({ length: 65 }, (_, n) => ({ key: `k${n}`, value: "v" })) },
        "secrets: must have at most 64",
      ],
      [{ secrets: [{ key: "UPPER", value: "v" }] }, "secrets.0.key: must be 1 to 64 of a-z, 0-9 and _"],
      [{ secrets: [{ key: "k".repeat(65), value: "v" }] }, "secrets.0.key: "],
      [{ secrets: [{ key: "", value: "v" }] }, "secrets.0.key: "],
      [{ secrets: [{ key: "a\0", value: "v" }] }, "secrets.0.key: "],
      [{ secrets: [{ key: "a", value: 5 }] }, "secrets.0.value: "],
      [{ secrets: [{ key: "a", value: "v".repeat(8193) }] }, "secrets.0.value: must be at most 8192 characters"],
      [{ secrets: [{ key: "a", value: "\0" }] }, "secrets.0.value: must not contain NUL"],
      [{ secrets: [{ key: "a", value: "\ud800" }] }, "secrets.0.value: must not contain NUL or unpaired"],
      [{ secrets: [{ key: "auth_api_key", value: "  " }] }, "secrets.0.value: auth_api_key must not be blank"],
      [{ secrets: [{ key: "auth_api_key", value: "aek_x" }] }, "secrets.0.value: auth_api_key must not begin like"],
      [{ secrets: [{ key: "auth_api_key", value: "x" }] }, "secrets.0.value: auth_api_key must have at least 16"],
      [{ secrets: [{ key: "openai_base_url", value: "nowhere" }] }, "secrets.0.value: openai_base_url must be an http"],
      [
        {
          secrets: [
            { key: "a", value: "1" },
            { key: "a", value: "2" },
          ],
        },
        "secrets: must not name a key twice",
      ],
      [{ secrets: [null] }, "secrets.0: "],
      [{ secrets: [{ key: "openai_api_key", value: "12345" }] }, "openai_api_key must have at least 6 characters"],
      [{ secrets: [{ key: "mine", value: "   123   " }] }, "mine must have at least 6 characters"],
    ];
    for (const [json, message] of bad) {
      const answer = await h.request(url("one"), { method: "PUT", headers, json });
      expect([json, answer.status]).toEqual([json, 400]);
      expect(((await answer.json()) as { message: string }).message).toContain(message);
    }
    expect(await values(h, "one")).toEqual({});
  });

  it("deletes, again and again", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { a: "value-1", b: "value-2" });
    for (const key of ["a", "a", "never_there", "openai_api_key"]) {
      const answer = await remove(h, headers, "one", key);
      expect([answer.status, await answer.json()]).toEqual([200, { deleted: true }]);
    }
    expect(await values(h, "one")).toEqual({ b: "value-2" });
    expect((await remove(h, headers, "one", "%00")).status).toBe(400);
    expect((await remove(h, headers, "one", "A%20B")).status).toBe(400);
  });

  it("bumps the revision with every change", async () => {
    const { h, headers } = await withAgents("one");
    const revisions = [(await agentRow(h, "one")).revision];
    await put(h, headers, "one", { a: "value-1" });
    revisions.push((await agentRow(h, "one")).revision);
    await remove(h, headers, "one", "a");
    revisions.push((await agentRow(h, "one")).revision);
    await put(h, headers, "one", { a: "\0" });
    revisions.push((await agentRow(h, "one")).revision);
    expect(revisions).toEqual([1, 2, 3, 3]);
  });

  it("keeps concurrent changes of one agent apart", async () => {
    const { h, headers } = await withAgents("one");
    const keys = ["a", "b", "c", "d", "e", "f"];
    const rounds = keys.map((_, turn) =>
      Object.fromEntries([...keys.slice(turn), ...keys.slice(0, turn)].map((key) => [key, `value-${turn}`])),
    );
    const answers = await Promise.all(rounds.map((round) => put(h, headers, "one", round)));
    expect(answers.map(({ status }) => status)).toEqual(rounds.map(() => 200));
    expect(new Set(Object.values(await values(h, "one"))).size).toBe(1);
  });
});

describe("the agent's API key", () => {
  it("belongs to one agent only", async () => {
    const { h, headers } = await withAgents("one", "two");
    expect((await put(h, headers, "one", { auth_api_key: "key-1-of-an-agent" })).status).toBe(200);
    expect((await put(h, headers, "one", { auth_api_key: "key-1-of-an-agent" })).status).toBe(200);
    const taken = await put(h, headers, "two", { auth_api_key: "key-1-of-an-agent", other: "value-x" });
    expect(taken.status).toBe(409);
    expect(((await taken.json()) as { message: string }).message).toBe(
      "auth_api_key: another agent uses this key; choose another one",
    );
    expect(await values(h, "two")).toEqual({});
    await put(h, headers, "one", { auth_api_key: "key-2-of-an-agent" });
    expect((await put(h, headers, "two", { auth_api_key: "key-1-of-an-agent" })).status).toBe(200);
    await remove(h, headers, "two", "auth_api_key");
    expect((await agentRow(h, "two")).authKeyHmac).toBeNull();
    expect((await put(h, headers, "one", { auth_api_key: "key-1-of-an-agent" })).status).toBe(200);
  });

  it("goes to one of many that ask for it at once", async () => {
    const slugs = ["a1", "a2", "a3", "a4"];
    const { h, headers } = await withAgents(...slugs);
    const answers = await Promise.all(
      slugs.map((slug) => put(h, headers, slug, { auth_api_key: "wanted-by-many-agents" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it("is found by its mark", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { auth_api_key: "key-1-of-an-agent" });
    const [mark] = await h.services.cipher.fingerprints("key-1-of-an-agent");
    expect(new Uint8Array((await agentRow(h, "one")).authKeyHmac ?? [])).toEqual(mark);
  });
});

describe("permissions", () => {
  it("leaves secrets to Admins", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { a: "value-1" });
    for (const role of ["viewer", "member"] as const) {
      const lower = await h.as(role);
      expect((await h.request(url("one"), { headers: lower })).status).toBe(403);
      expect((await put(h, lower, "one", { a: "value-2" })).status).toBe(403);
      expect((await remove(h, lower, "one", "a")).status).toBe(403);
    }
    expect((await put(h, await h.as("admin"), "one", { a: "value-3" })).status).toBe(200);
    expect((await h.request(url("one"))).status).toBe(401);
    expect(await values(h, "one")).toEqual({ a: "value-3" });
  });

  it("answers for another organization's agent as for a missing one, byte for byte", async () => {
    const { h, headers } = await withAgents("theirs");
    await put(h, headers, "theirs", { a: "value-1" });
    const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
    const attempt = async (slug: string) => {
      const answers = [
        await h.request(url(slug), { headers: stranger }),
        await put(h, stranger, slug, { a: "value-2" }),
        await remove(h, stranger, slug, "a"),
      ];
      return Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
    };
    const foreign = await attempt("theirs");
    expect(foreign).toEqual(await attempt("nobody"));
    expect(foreign.map(([status]) => status)).toEqual([404, 404, 404]);
    expect(await values(h, "theirs")).toEqual({ a: "value-1" });
  });
});

describe("a stored value", () => {
  const key = "openai_api_key";
  const base = "openai_base_url";
  const summaries = async (h: Harness) => {
    const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    return entries.filter(({ action }) => action.startsWith("agent.secret")).map(({ summary }) => summary);
  };

  it.each<[string, string, string, string[]]>([
    ["openai", "", "https://gateway.example/v1", [key]],
    ["openai", "", "https://api.openai.com/v1", []],
    ["openai", "https://gateway.example/v1", "https://gateway.example/v2", []],
    ["openai", "https://gateway.example/v1", "https://gateway.example:8443/v1", [key]],
    ["openai", "https://gateway.example/v1", "http://gateway.example/v1", [key]],
    ["openai", "https://gateway.example/v1", "https://gateway.example.evil.test/v1", [key]],
    ["ollama", "", "https://gateway.example", ["ollama_api_key"]],
    ["openai_compatible", "", "https://gateway.example", ["openai_compatible_api_key"]],
    ["mistral", "https://a.example", "https://api.mistral.ai", ["mistral_api_key"]],
  ])("a key of %s that was stored with the address %j does not go to %s unseen", async (stem, before, next, dropped) => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", {
      [`${stem}_base_url`]: before,
      [`${stem}_api_key`]: "sk-stored-0123",
      other_api_key: "other-key",
    });
    const answer = await put(h, headers, "one", { [`${stem}_base_url`]: next });
    const body = (await answer.json()) as { secrets: Entry[]; dropped?: string[] };
    expect(body.dropped).toEqual(dropped.length > 0 ? dropped : undefined);
    expect(Object.keys(await values(h, "one")).includes(`${stem}_api_key`)).toBe(dropped.length === 0);
    expect(await values(h, "one")).toMatchObject({ [`${stem}_base_url`]: next, other_api_key: "other-key" });
    const keys = [`${stem}_base_url`];
    expect((await summaries(h)).at(-1)).toEqual(dropped.length > 0 ? { keys, dropped } : { keys });
  });

  it("an address that hides its host behind a user's name is refused", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { [base]: "https://gateway.example/v1", [key]: "sk-stored-0123" });
    const answer = await put(h, headers, "one", { [base]: "https://gateway.example@evil.test/v1" });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringContaining("must hold no password") }),
    ]);
    expect(await values(h, "one")).toEqual({ [base]: "https://gateway.example/v1", [key]: "sk-stored-0123" });
  });

  it("a key that comes with the new address stays, and an empty one does not count as coming", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { [key]: "sk-stored-0123" });
    await put(h, headers, "one", { [base]: "https://a.example", [key]: "sk-new-0123" });
    expect(await values(h, "one")).toMatchObject({ [key]: "sk-new-0123" });
    const answer = await put(h, headers, "one", { [base]: "https://b.example", [key]: "" });
    expect(await answer.json()).toMatchObject({ dropped: [key] });
  });

  it("an address that is deleted takes the key along that would go to the provider's own or the environment's", async () => {
    const { h, headers } = await withAgents("one");
    await put(h, headers, "one", { [base]: "https://a.example", [key]: "sk-stored-0123" });
    expect(await (await remove(h, headers, "one", base)).json()).toEqual({ deleted: true });
    expect(await values(h, "one")).toEqual({});
    expect((await summaries(h)).at(-1)).toEqual({ keys: [base], dropped: [key] });

    await put(h, headers, "one", { [key]: "sk-stored-0123" });
    await remove(h, headers, "one", base);
    await put(h, headers, "one", { [base]: "https://api.openai.com/v1" });
    await remove(h, headers, "one", base);
    expect(await values(h, "one")).toEqual({ [key]: "sk-stored-0123" });
  });

  it("a key without an address left goes nowhere, and not to the next address either", async () => {
    const { h, headers } = await withAgents("one");
    const compatible = { openai_compatible_base_url: "https://a.example", openai_compatible_api_key: "sk-stored-0123" };
    await put(h, headers, "one", compatible);
    await remove(h, headers, "one", "openai_compatible_base_url");
    expect(Object.keys(await values(h, "one"))).toEqual(["openai_compatible_api_key"]);
    await put(h, headers, "one", { openai_compatible_base_url: "https://evil.test" });
    expect(Object.keys(await values(h, "one"))).toEqual(["openai_compatible_base_url"]);
  });

  it("the environment's address counts as the address so far", async () => {
    const h = await harness({ environmentKeys: { [base]: "https://gateway.example/v1" } });
    const headers = await h.as("owner");
    await h.request("/api/instances", { method: "POST", headers, json: { slug: "one" } });
    await put(h, headers, "one", { [key]: "sk-stored-0123" });
    await put(h, headers, "one", { [base]: "https://gateway.example/v2" });
    expect(Object.keys(await values(h, "one")).sort()).toEqual([key, base]);
    await put(h, headers, "one", { [base]: "https://api.openai.com/v1" });
    expect(Object.keys(await values(h, "one"))).toEqual([base]);
  });

  it("is in no answer, no log line, no audit entry and not readable in the database", async () => {
    const { h, headers } = await withAgents("one", "two");
    const secret = "hidden-value-4711";
    const answers = [
      await put(h, headers, "one", { auth_api_key: secret, mine: `x${secret}` }),
      await put(h, headers, "two", { auth_api_key: secret }),
      await h.request(url("one"), { headers }),
      await h.request("/api/instances/one", { headers }),
      await h.request("/api/instances", { headers }),
      await h.request("/api/instances/one/channels", { headers }),
      await put(h, headers, "one", { auth_api_key: `aek_${secret}` }),
      await remove(h, headers, "one", "mine"),
    ];
    const audit = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    const stored = await h.services.database.db.select().from(secrets);
    const sealed = stored.map(({ ciphertext }) => String.fromCharCode(...ciphertext));
    const texts = [
      ...(await Promise.all(answers.map((answer) => answer.text()))),
      JSON.stringify(audit),
      ...sealed,
      ...h.logs,
    ];
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
    expect(audit.filter(({ action }) => action.startsWith("agent.secret")).map(({ summary }) => summary)).toEqual([
      { keys: ["auth_api_key", "mine"] },
      { keys: ["mine"] },
    ]);
  });

  it("opens only for the agent and key it was sealed for", async () => {
    const { h, headers } = await withAgents("one", "two");
    await put(h, headers, "one", { a: "value-1", b: "value-2" });
    const { id } = await agentRow(h, "one");
    const other = await agentRow(h, "two");
    const rows = await h.services.database.db.select().from(secrets).where(eq(secrets.agentId, id));
    const moved = rows.map((row) => ({ ...row, key: row.key === "a" ? "b" : "a" }));
    await expect(openSecrets(h.services.cipher, other.id, rows)).rejects.toThrow("does not open");
    await expect(openSecrets(h.services.cipher, id, moved)).rejects.toThrow("does not open");
  });
});

it("never answers 500, whatever the body", async () => {
  const { h, headers } = await withAgents("one");
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("auth_api_key", "a", "", "\0", "\ud800"));
  const item = fc.oneof(fc.record({ key: text, value: fc.oneof(text, fc.jsonValue()) }), fc.jsonValue());
  const body = fc.oneof(fc.record({ secrets: fc.array(item, { maxLength: 5 }) }), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(body, async (json) => {
      const answer = await h.request(url("one"), { method: "PUT", headers, json });
      expect([200, 400]).toContain(answer.status);
    }),
    { numRuns: 100 },
  );
});
