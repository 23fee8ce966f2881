import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentPrompts, agents, auditLogs } from "../../../src/db/schema.ts";
import { assemblePrompt, loadPrompts } from "../../../src/features/prompts/index.ts";
import { promptKeys } from "../../../src/features/prompts/sections.ts";
import { harness } from "../../harness.ts";

interface Shown {
  key: string;
  filename: string;
  title: string;
  content: string;
  isDefault: boolean;
}

type Headers = Record<string, string>;

const url = (slug: string) => `/api/instances/${slug}/prompts`;

async function withAgents(...slugs: string[]) {
  const h = await harness();
  const headers = await h.as("owner");
  for (const slug of slugs) await h.request("/api/instances", { method: "POST", headers, json: { slug } });
  const list = async (slug = "one") => promptsIn(await h.request(url(slug), { headers }));
  const patch = (json: unknown, { slug = "one", as = headers }: { slug?: string; as?: Headers } = {}) =>
    h.request(url(slug), { method: "PATCH", headers: as, json });
  const save = (sections: object[], slug?: string) => patch({ sections }, slug === undefined ? {} : { slug });
  const own = async (slug?: string) =>
    Object.fromEntries((await list(slug)).filter(({ isDefault }) => !isDefault).map((one) => [one.key, one.content]));
  const row = async (slug = "one") => {
    const [found] = await h.services.database.db.select().from(agents).where(eq(agents.slug, slug));
    if (!found) throw new Error("No such agent");
    return found;
  };
  const stored = () => h.services.database.db.select().from(agentPrompts).orderBy(agentPrompts.key);
  return { ...h, headers, list, patch, save, own, row, stored };
}

async function promptsIn(response: Response): Promise<Shown[]> {
  expect(response.status).toBe(200);
  return ((await response.json()) as { prompts: Shown[] }).prompts;
}

const messageOf = async (response: Response) => ((await response.json()) as { message: string }).message;

describe("an agent's prompt", () => {
  test("has eight sections in order, with the engine's words at first", async () => {
    const h = await withAgents("one");
    const prompts = await h.list();
    expect(prompts.map(({ key }) => key)).toEqual(promptKeys);
    for (const { key, filename, title, content, isDefault, ...rest } of prompts) {
      expect([filename, isDefault, rest]).toEqual([`${key}.md`, true, {}]);
      expect(title).toMatch(/^[A-Z][a-z ]+$/);
      expect(content).not.toBe("");
    }
    expect(await h.stored()).toEqual([]);
    const prompt = assemblePrompt(await loadPrompts(h.services.database.db, (await h.row()).id), {
      name: "one",
      description: "",
      skillsList: "",
      timezone: "UTC",
      datetime: "now",
      memories: "",
      userName: "",
      state: "",
    });
    expect(prompt).toMatch(/^You are one, an assistant\./);
    expect(prompt).not.toContain("{{");
  });

  test("keeps the sections that are not named, and answers all", async () => {
    const h = await withAgents("one", "two");
    const text = "Übersicht:\r\n{{name}} $& {{skill_env.a.B}} 🙂 \\ ' \" ";
    const answered = await promptsIn(await h.save([{ key: "08-datetime", content: text }]));
    await h.save([
      { key: "02-soul", content: "Be brief." },
      { key: "01-identity", content: "You are new." },
    ]);
    expect(answered.map(({ key }) => key)).toEqual(promptKeys);
    expect(answered.at(-1)).toEqual({
      key: "08-datetime",
      filename: "08-datetime.md",
      title: "Date and time",
      content: text,
      isDefault: false,
    });
    await h.save([{ key: "02-soul", content: "Be kind." }]);
    expect(await h.own()).toEqual({ "01-identity": "You are new.", "02-soul": "Be kind.", "08-datetime": text });
    expect(await h.own("two")).toEqual({});
    expect([...(await loadPrompts(h.services.database.db, (await h.row()).id)).values()].sort()).toEqual(
      ["You are new.", "Be kind.", text].sort(),
    );
  });

  test("has empty sections where they were emptied, and goes back to the default by null", async () => {
    const h = await withAgents("one");
    const before = await h.list();
    await h.save([
      { key: "04-safety", content: "" },
      { key: "03-tooling", content: "Mine." },
    ]);
    expect(await h.own()).toEqual({ "03-tooling": "Mine.", "04-safety": "" });
    const after = await promptsIn(
      await h.save([
        { key: "04-safety", content: null },
        { key: "03-tooling", content: null },
        { key: "05-skills", content: null },
      ]),
    );
    expect(after).toEqual(before);
    expect(await h.stored()).toEqual([]);
  });

  test("sent back as it was read stays the default", async () => {
    const h = await withAgents("one");
    await h.save([{ key: "02-soul", content: "Mine." }]);
    const read = await h.list();
    const answered = await promptsIn(await h.save(read));
    expect(answered).toEqual(read);
    expect(await h.own()).toEqual({ "02-soul": "Mine." });
    expect(await h.stored()).toHaveLength(1);
  });

  test("takes eight sections of 32768 characters at once", async () => {
    const h = await withAgents("one");
    const content = "ü".repeat(32_768);
    const answered = await promptsIn(await h.save(promptKeys.map((key) => ({ key, content }))));
    expect(answered.every((one) => one.content === content)).toBe(true);
  });

  test("takes no notice of stored sections that it doesn't know", async () => {
    const h = await withAgents("one");
    const { id: agentId } = await h.row();
    const rows = ["09-more", "constructor", "02-soul"].map((key) => ({ agentId, key, content: "Mine." }));
    await h.services.database.db.insert(agentPrompts).values(rows);
    expect([...(await loadPrompts(h.services.database.db, agentId))]).toEqual([["02-soul", "Mine."]]);
    expect(await h.own()).toEqual({ "02-soul": "Mine." });
  });

  test("goes with its agent", async () => {
    const h = await withAgents("one");
    await h.save([{ key: "02-soul", content: "Mine." }]);
    await h.request("/api/instances/one", { method: "DELETE", headers: h.headers });
    expect(await h.stored()).toEqual([]);
  });
});

describe("a change", () => {
  test("is audited from what to what, by the sections that changed, and makes a new revision", async () => {
    const h = await withAgents("one");
    const { revision } = await h.row();
    await h.save([
      { key: "02-soul", content: "canary-4711" },
      { key: "04-safety", content: null },
    ]);
    await h.save([{ key: "nope", content: "canary-4711" }]);
    const entries = await h.services.database.db.select().from(auditLogs).orderBy(auditLogs.id);
    const ours = entries.filter(({ action }) => action === "agent.prompt.update");
    expect(ours.map(({ target, summary, agentId }) => [target, summary, agentId])).toEqual([
      [
        "one",
        { changes: { "02-soul": { from: expect.stringMatching(/^# How you talk/), to: "canary-4711" } } },
        (await h.row()).id,
      ],
    ]);
    expect(h.logs.join()).not.toContain("canary-4711");
    expect((await h.row()).revision).toBe(revision + 1);
  });

  test("names its author", async () => {
    const h = await withAgents("one");
    const member = await h.as("member");
    await h.save([{ key: "02-soul", content: "Mine." }]);
    expect((await h.patch({ sections: [{ key: "02-soul", content: "Ours." }] }, { as: member })).status).toBe(200);
    const [row] = await h.stored();
    expect(row?.createdBy).toEqual(expect.any(String));
    expect(row?.updatedBy).toEqual(expect.any(String));
    expect(row?.updatedBy).not.toBe(row?.createdBy);
  });

  test("of the same sections by many at once leaves one's words whole", async () => {
    const h = await withAgents("one");
    const rounds = Array.from({ length: 6 }, (_, n) =>
      promptKeys.map((_key, index) => ({ key: promptKeys[(index + n) % promptKeys.length], content: `${n}` })),
    );
    const answers = await Promise.all(rounds.map((sections) => h.save(sections)));
    expect(answers.map(({ status }) => status)).toEqual(rounds.map(() => 200));
    const contents = (await h.list()).map(({ content }) => content);
    expect(new Set(contents).size).toBe(1);
  });
});

describe("If-Match", () => {
  test("refuses a change that is based on an older revision, and stores nothing of it", async () => {
    const h = await withAgents("one");
    const change = (ifMatch: string, content: string) =>
      h.patch({ sections: [{ key: "02-soul", content }] }, { as: { ...h.headers, "If-Match": ifMatch } });
    const read = await h.request(url("one"), { headers: h.headers });
    const { revision } = (await read.json()) as { revision: number };
    const tag = `"${revision}"`;
    expect(read.headers.get("ETag")).toBe(tag);

    const first = await change(tag, "The first tab's.");
    expect([first.status, first.headers.get("ETag")]).toEqual([200, `"${revision + 1}"`]);
    expect(await first.json()).toMatchObject({ revision: (await h.row()).revision });

    const second = await change(tag, "The second tab's.");
    expect(second.status).toBe(412);
    expect(await messageOf(second)).toBe(`The agent is at revision ${revision + 1}: read it again`);
    expect((await change("3", "x")).status).toBe(400);
    expect(await h.own()).toEqual({ "02-soul": "The first tab's." });
    expect((await change("*", "Whatever is stored.")).status).toBe(200);
  });

  test("lets exactly one of many concurrent changes win", async () => {
    const h = await withAgents("one");
    const as = { ...h.headers, "If-Match": '"1"' };
    const changes = Array.from({ length: 6 }, (_, n) => ({ sections: [{ key: "02-soul", content: `${n}` }] }));
    const answers = await Promise.all(changes.map((json) => h.patch(json, { as })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
  });
});

describe("refused, and nothing changed", () => {
  const one = (section: unknown) => ({ sections: [{ key: "01-identity", content: "changed" }, section] });
  test.each([
    [one({ key: "09-more", content: "x" }), "sections.1.key: must be one of: 01-identity, 02-soul"],
    [one({ key: "02-soul.md", content: "x" }), "sections.1.key: must be one of"],
    [one({ key: "constructor", content: "x" }), "sections.1.key: must be one of"],
    [one({ key: 2, content: "x" }), "sections.1.key: "],
    [one({ content: "x" }), "sections.1.key: "],
    [one({ key: "02-soul" }), "sections.1.content: "],
    [one({ key: "02-soul", content: 5 }), "sections.1.content: "],
    [one({ key: "02-soul", content: "x".repeat(32_769) }), "sections.1.content: must be at most 32768 characters"],
    [one({ key: "02-soul", content: "a\0b" }), "sections.1.content: must not contain NUL"],
    [one({ key: "02-soul", content: "\ud800" }), "sections.1.content: must not contain NUL or unpaired surrogates"],
    [one({ key: "01-identity", content: null }), "sections: must not name a key twice"],
    [one(null), "sections.1: "],
    [{ sections: [] }, "sections: must name at least one section"],
    [{ sections: Array(9).fill({ key: "02-soul", content: "x" }) }, "sections: must have at most 8 entries"],
    [{ sections: { "02-soul": "x" } }, "sections: "],
    [{}, "sections: "],
    [[], ""],
  ])("%.120j: %s", async (json, message) => {
    const h = await withAgents("one");
    await h.save([{ key: "02-soul", content: "Mine." }]);
    const { revision } = await h.row();
    const refused = await h.patch(json);
    expect(refused.status).toBe(400);
    expect(await messageOf(refused)).toContain(message);
    expect(await h.own()).toEqual({ "02-soul": "Mine." });
    expect((await h.row()).revision).toBe(revision);
  });

  test("for a viewer, who may read", async () => {
    const h = await withAgents("one");
    const viewer = await h.as("viewer");
    expect((await h.request(url("one"), { headers: viewer })).status).toBe(200);
    const refused = await h.patch({ sections: [{ key: "02-soul", content: "x" }] }, { as: viewer });
    expect([refused.status, await messageOf(refused)]).toEqual([403, "Missing permission: agent.prompt:write"]);
    const outside = await h.as("member", { reach: false });
    expect((await h.request(url("one"), { headers: outside })).status).toBe(404);
    expect((await h.patch({ sections: [{ key: "02-soul", content: "x" }] }, { as: outside })).status).toBe(404);
    expect((await h.request(url("one"))).status).toBe(401);
    expect((await h.patch({ sections: [{ key: "02-soul", content: "x" }] }, { as: {} })).status).toBe(401);
    expect(await h.own()).toEqual({});
  });

  test("for another organization as for a missing agent, byte for byte", async () => {
    const h = await withAgents("theirs");
    await h.save([{ key: "02-soul", content: "Mine." }], "theirs");
    const stranger = await h.as("owner", { organization: await h.createOrganization("globex") });
    const attempt = async (slug: string) => {
      const sections = [
        { key: "02-soul", content: null },
        { key: "01-identity", content: "x" },
      ];
      const answers = [
        await h.request(url(slug), { headers: stranger }),
        await h.patch({ sections }, { slug, as: stranger }),
      ];
      return Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
    };
    const foreign = await attempt("theirs");
    expect(foreign).toEqual(await attempt("nobody"));
    expect(foreign.map(([status]) => status)).toEqual([404, 404]);
    expect(await h.own("theirs")).toEqual({ "02-soul": "Mine." });
  });
});

test("never answers 500, whatever the body", async () => {
  const h = await withAgents("one");
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...promptKeys, "", "\0", "\ud800"));
  const section = fc.oneof(fc.record({ key: text, content: fc.oneof(text, fc.jsonValue()) }), fc.jsonValue());
  const body = fc.oneof(fc.record({ sections: fc.array(section, { maxLength: 5 }) }), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(body, async (json) => {
      expect([200, 400]).toContain((await h.patch(json)).status);
    }),
    { numRuns: 100 },
  );
});
