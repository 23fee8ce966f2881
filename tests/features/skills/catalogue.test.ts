import { desc, eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { auditLogs } from "../../../src/db/schema.ts";
import { spyOnStatements } from "../../statements.ts";
import { catalogue, type Fields, kitchen, type Refusal, read, refunds, refusal } from "./skills.ts";

const skill = {
  name: "Refunds",
  slug: "refunds",
  description: refunds.description,
  category: "general",
  requiredEnv: [],
  requiredTools: [],
  content: refunds.content,
  version: "0.1.0",
};

describe("an export", () => {
  it("has the newest versions of a skill that has more than 8 MiB in all", async () => {
    const { send } = await kitchen();
    const scripts = Array.from({ length: 12 }, (_, n) => ({ file: `s${n}.js`, content: "x".repeat(250_000) }));
    const big = { name: "big", description: "Large", content: "0", scripts };
    expect((await send("POST", `${catalogue}/catalog/import`, { skills: [big] })).status).toBe(201);
    for (const content of ["1", "2", "3"]) {
      expect((await send("PUT", `${catalogue}/big`, { description: "Large", content })).status).toBe(200);
    }
    const { skills } = await read<{ skills: { versions: { content: string }[] }[] }>(
      send("GET", `${catalogue}/big/export`),
    );
    expect(skills[0]?.versions.map(({ content }) => content)).toEqual(["3", "2"]);
  });
});

describe("the list", () => {
  it("reads no scripts, which have up to 8 MiB in each skill", async () => {
    const { h, send } = await kitchen();
    const scripts = [{ file: "a.js", content: "export default 1" }];
    await read(send("POST", `${catalogue}/catalog/import`, { skills: [{ ...refunds, scripts }] }));
    const { texts } = spyOnStatements(h.services.database);
    expect(await read(send("GET", catalogue))).toEqual({ skills: [skill] });
    expect(await read(send("GET", `${catalogue}/refunds`))).toEqual(skill);
    const reading = texts().filter((text) => text.includes("skill_versions"));
    expect(reading).toHaveLength(2);
    expect(reading.join()).not.toContain("scripts");
  });
});

describe("creating a skill", () => {
  it("answers it unwrapped, in version 0.1.0, and keeps a --- block as text", async () => {
    const { create, send } = await kitchen();
    const answer = await create({ unknown: 1 });
    expect([answer.status, await answer.json()]).toEqual([201, skill]);
    expect(await read(send("GET", `${catalogue}/refunds`))).toEqual(skill);
    expect(await read(send("GET", catalogue))).toEqual({ skills: [skill] });
  });

  it("keeps what it requires, and each tool once", async () => {
    const { create } = await kitchen();
    const requiredEnv = [
      { name: "any text / at all", sensitive: false, description: "What for" },
      { name: "TOKEN", sensitive: true, hosts: ["API.example.com", "[::1]:8080"] },
      { name: "BARE", sensitive: true },
      { name: "OPEN", sensitive: false, hosts: [] },
    ];
    const made = await read(
      create({ category: "support", requiredEnv, requiredTools: ["httpRequest", "currentTime", "httpRequest"] }),
    );
    expect(made).toEqual({
      ...skill,
      category: "support",
      requiredEnv: [
        requiredEnv[0],
        { name: "TOKEN", sensitive: true, hosts: ["api.example.com", "[::1]:8080"] },
        ...requiredEnv.slice(2),
      ],
      requiredTools: ["httpRequest", "currentTime"],
    });
  });

  it("takes the slug exactly from the name", async () => {
    const { create } = await kitchen();
    const slugs = await Promise.all(
      ["My Skill!", " Größe ", "catalog", "🙂"].map(
        async (name) => (await read<{ slug: string }>(create({ name }))).slug,
      ),
    );
    expect(slugs).toEqual(["my-skill-", "-gr--e-", "catalog", "-"]);
  });

  it("refuses a second name with the same slug", async () => {
    const { create } = await kitchen();
    await create({ name: "My Skill!" });
    expect(await refusal(create({ name: "my skill?" }))).toEqual([
      409,
      "The slug my-skill- is taken: change that skill, or choose another name",
    ]);
  });

  it("makes one of two that come at once", async () => {
    const { create, send } = await kitchen();
    const answers = await Promise.all([create(), create({ content: "other" })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await read<{ skills: unknown[] }>(send("GET", catalogue))).skills).toHaveLength(1);
    const { versions } = await read<{ versions: unknown[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions).toHaveLength(1);
  });

  it("refuses each field that skills do not have, by its name", async () => {
    const { create, send } = await kitchen();
    for (const field of ["tags", "language", "requiredSecrets", "dependsOnTools", "version", "scripts"]) {
      for (const value of [[], "x", null]) {
        const answer = await create({ [field]: value });
        const body = (await answer.json()) as Refusal;
        expect([field, answer.status, body.issues?.map(({ path }) => path)]).toEqual([field, 400, [field]]);
        expect(body.message.startsWith(`${field}: `)).toBe(true);
      }
    }
    expect(await read(send("GET", catalogue))).toEqual({ skills: [] });
  });

  it("refuses what can't be a skill, by the name of the field", async () => {
    const { create, send } = await kitchen();
    const env = (entry: Fields) => ({ requiredEnv: [{ name: "A", sensitive: true, ...entry }] });
    const wrong: [Fields, string][] = [
      [{ name: undefined }, "name"],
      [{ name: "  " }, "name"],
      [{ name: "x".repeat(129) }, "name"],
      [{ name: "a\0" }, "name"],
      [{ description: undefined }, "description"],
      [{ description: " " }, "description"],
      [{ description: "x".repeat(2001) }, "description"],
      [{ content: undefined }, "content"],
      [{ content: "" }, "content"],
      [{ content: "x".repeat(262_145) }, "content"],
      [{ content: "\ud800" }, "content"],
      [{ category: "" }, "category"],
      [{ category: 5 }, "category"],
      [{ requiredEnv: "A" }, "requiredEnv"],
      [{ requiredEnv: ["A"] }, "requiredEnv.0"],
      [{ requiredEnv: Array.from({ length: 65 }, (_, n) => ({ name: `A${n}`, sensitive: true })) }, "requiredEnv"],
      [{ requiredEnv: [{ name: "A" }, { name: "A" }] }, "requiredEnv"],
      [env({ name: "" }), "requiredEnv.0.name"],
      [env({ name: ".." }), "requiredEnv.0.name"],
      [env({ name: "x".repeat(129) }), "requiredEnv.0.name"],
      [env({ sensitive: "yes" }), "requiredEnv.0.sensitive"],
      [env({ hosts: "example.com" }), "requiredEnv.0.hosts"],
      [env({ hosts: ["https://example.com"] }), "requiredEnv.0.hosts.0"],
      [env({ hosts: ["example.com/path"] }), "requiredEnv.0.hosts.0"],
      [env({ hosts: ["a@b"] }), "requiredEnv.0.hosts.0"],
      [env({ hosts: [""] }), "requiredEnv.0.hosts.0"],
      [env({ sensitive: false, hosts: ["api.example.com"] }), "requiredEnv.0.hosts"],
      [{ requiredTools: ["\\"] }, "requiredTools.0"],
      [{ requiredTools: [""] }, "requiredTools.0"],
      [{ requiredTools: Array.from({ length: 65 }, (_, n) => `a${n}`) }, "requiredTools"],
    ];
    for (const [fields, path] of wrong) {
      const answer = await create(fields);
      const body = (await answer.json()) as Refusal;
      expect([fields, answer.status, body.issues?.map((issue) => issue.path)]).toEqual([fields, 400, [path]]);
    }
    for (const body of [null, [], "x", 5]) expect((await send("POST", catalogue, body)).status).toBe(400);
    expect(await read(send("GET", catalogue))).toEqual({ skills: [] });
  });

  it("names the required tools that the organization can't use", async () => {
    const { h, create, send, agent } = await kitchen();
    const other = await h.createOrganization("globex");
    const stranger = await h.as("owner", { organization: other });
    await send("POST", "/api/instances", { slug: "theirs" }, stranger);
    await agent("ours");
    const wrong = ["ghIssue", "hubspotSearch", "nothing", "acme:tool", "agent:theirs", "agent:nobody"];
    expect(await refusal(create({ requiredTools: ["httpRequest", "agent:ours", ...wrong] }))).toEqual([
      400,
      `requiredTools: this organization has no such tool: ${wrong.join(", ")}`,
    ]);
    expect((await create({ requiredTools: ["httpRequest", "agent:ours"] })).status).toBe(201);
  });
});

describe("saving a skill", () => {
  it("makes the next version, with a changelog; entries left out of the lists are deleted", async () => {
    const { create, send } = await kitchen();
    await create({
      category: "support",
      requiredTools: ["httpRequest"],
      requiredEnv: [{ name: "A", sensitive: true }],
    });
    const changes = { name: "Refunds", description: "New.", content: "New body", changelog: "Shorter" };
    const saved = await read(send("PUT", `${catalogue}/refunds`, changes));
    expect(saved).toEqual({
      ...skill,
      category: "support",
      description: "New.",
      content: "New body",
      version: "0.2.0",
    });
    await send("PUT", `${catalogue}/refunds`, { description: "Newer.", content: "Newer", category: "sales" });

    const { versions } = await read<{ versions: Fields[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions.map(({ version, changelog }) => [version, changelog])).toEqual([
      ["0.3.0", null],
      ["0.2.0", "Shorter"],
      ["0.1.0", null],
    ]);
    expect(Date.parse(String(versions[0]?.createdAt))).not.toBeNaN();
    const first = await read(send("GET", `${catalogue}/refunds/versions/0.1.0`));
    expect(first).toMatchObject({
      slug: "refunds",
      content: refunds.content,
      requiredTools: ["httpRequest"],
      changelog: null,
    });
    expect(first.id).toBe(versions[2]?.id);
    expect(await read(send("GET", `${catalogue}/refunds`))).toMatchObject({ version: "0.3.0", category: "sales" });
  });

  it("counts 0.10.0 after 0.9.0", async () => {
    const { create, send } = await kitchen();
    await create();
    for (let save = 0; save < 10; save += 1)
      await send("PUT", `${catalogue}/refunds`, { ...refunds, content: `${save}` });
    const { versions } = await read<{ versions: Fields[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions.slice(0, 3).map(({ version }) => version)).toEqual(["0.11.0", "0.10.0", "0.9.0"]);
    expect(await read(send("GET", `${catalogue}/refunds`))).toMatchObject({ version: "0.11.0", content: "9" });
  });

  it("makes a version of each of several that come at once", async () => {
    const { create, send } = await kitchen();
    await create();
    const contents = ["a", "b", "c", "d", "e"];
    const saved = await Promise.all(
      contents.map((content) => send("PUT", `${catalogue}/refunds`, { ...refunds, content })),
    );
    expect(saved.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { versions } = await read<{ versions: { version: string }[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions.map(({ version }) => version)).toEqual(["0.6.0", "0.5.0", "0.4.0", "0.3.0", "0.2.0", "0.1.0"]);
    const bodies = await Promise.all(
      versions.map(
        async ({ version }) => (await read(send("GET", `${catalogue}/refunds/versions/${version}`))).content,
      ),
    );
    expect(bodies.slice(0, 5).sort()).toEqual(contents);
  });

  it("refuses another name, missing texts, unknown tools and fields that skills do not have", async () => {
    const { create, send } = await kitchen();
    await create();
    const wrong: [Fields, string][] = [
      [{ name: "Other" }, 'name: is fixed: it stays "Refunds"'],
      [{ name: "refunds" }, 'name: is fixed: it stays "Refunds"'],
      [{ description: undefined }, "description: "],
      [{ content: undefined }, "content: "],
      [{ requiredTools: ["ghPR"] }, "requiredTools: this organization has no such tool: ghPR"],
      [{ scripts: [] }, "scripts: can only come with an import"],
      [{ version: "9.9.9" }, "version: is given by the server; leave it out"],
      [{ tags: ["a"] }, "tags: "],
      [{ changelog: "x".repeat(2001) }, "changelog: "],
    ];
    for (const [fields, message] of wrong) {
      const [status, said] = await refusal(send("PUT", `${catalogue}/refunds`, { ...refunds, ...fields }));
      expect([fields, status, said.startsWith(message)]).toEqual([fields, 400, true]);
    }
    const { versions } = await read<{ versions: unknown[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions).toHaveLength(1);
  });
});

describe("a missing skill", () => {
  it("is 404 on every route, whatever the path says", async () => {
    const { create, send } = await kitchen();
    await create();
    for (const name of ["nothing", "Refunds", "%00", "a%2Fb", "%27%20or%201%3D1", "x".repeat(600)]) {
      for (const [method, path] of [
        ["GET", ""],
        ["PUT", ""],
        ["DELETE", ""],
        ["GET", "/versions"],
        ["GET", "/versions/0.1.0"],
        ["GET", "/export"],
      ] as const) {
        const json = method === "PUT" ? refunds : undefined;
        const answer = await refusal(send(method, `${catalogue}/${name}${path}`, json));
        expect([name, method, path, ...answer]).toEqual([name, method, path, 404, "Skill not found"]);
      }
    }
    for (const version of ["0.2.0", "%00", "latest"]) {
      const answer = await refusal(send("GET", `${catalogue}/refunds/versions/${version}`));
      expect(answer).toEqual([404, "Version not found"]);
    }
  });

  it("includes every skill of another organization", async () => {
    const { h, create, send } = await kitchen();
    await create();
    const other = await h.createOrganization("globex");
    const stranger = await h.as("owner", { organization: other });
    const theirs = "/api/organizations/globex/skills";
    expect(await refusal(send("GET", `${catalogue}/refunds`, undefined, stranger))).toEqual([
      404,
      "Organization not found",
    ]);
    expect(await read(send("GET", theirs, undefined, stranger))).toEqual({ skills: [] });
    for (const method of ["GET", "PUT", "DELETE"]) {
      const json = method === "PUT" ? refunds : undefined;
      expect(await refusal(send(method, `${theirs}/refunds`, json, stranger))).toEqual([404, "Skill not found"]);
    }
    expect((await send("POST", theirs, { ...refunds, content: "theirs" }, stranger)).status).toBe(201);
    expect((await send("DELETE", `${theirs}/refunds`, undefined, stranger)).status).toBe(200);
    expect(await read(send("GET", `${catalogue}/refunds`))).toEqual(skill);
  });
});

describe("a skill named catalog", () => {
  it("works on its own paths, beside the import", async () => {
    const { create, send } = await kitchen();
    await create({ name: "catalog" });
    expect(await read(send("GET", `${catalogue}/catalog`))).toMatchObject({ slug: "catalog" });
    expect(await read(send("PUT", `${catalogue}/catalog`, { ...refunds, name: "catalog" }))).toMatchObject({
      version: "0.2.0",
    });
    expect((await read<{ versions: unknown[] }>(send("GET", `${catalogue}/catalog/versions`))).versions).toHaveLength(
      2,
    );
    expect((await send("GET", `${catalogue}/catalog/export`)).status).toBe(200);
    expect((await send("POST", `${catalogue}/catalog/import`, { skills: [refunds] })).status).toBe(201);
    expect((await send("GET", `${catalogue}/catalog/import`)).status).toBe(405);
    expect((await send("DELETE", `${catalogue}/catalog`)).status).toBe(200);
  });
});

describe("permissions", () => {
  it("lets Viewers and Members read, and Admins write", async () => {
    const { h, create, send } = await kitchen();
    await create();
    for (const role of ["viewer", "member"] as const) {
      const as = await h.as(role);
      expect((await send("GET", `${catalogue}/refunds/export`, undefined, as)).status).toBe(200);
      for (const [method, path] of [
        ["POST", ""],
        ["PUT", "/refunds"],
        ["DELETE", "/refunds"],
        ["POST", "/catalog/import"],
      ] as const) {
        const answer = await refusal(send(method, `${catalogue}${path}`, {}, as));
        expect(answer).toEqual([403, "Missing permission: skill.catalog:write"]);
      }
    }
    const admin = await h.as("admin");
    expect((await send("PUT", `${catalogue}/refunds`, refunds, admin)).status).toBe(200);
    expect((await h.request(catalogue)).status).toBe(401);
  });

  it("writes down each change and who made it", async () => {
    const { h, create, send } = await kitchen();
    await create();
    await send("PUT", `${catalogue}/refunds`, refunds);
    await send("DELETE", `${catalogue}/refunds`);
    await send("DELETE", `${catalogue}/refunds`);
    const rows = await h.services.database.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.target, "refunds"))
      .orderBy(desc(auditLogs.createdAt), desc(auditLogs.id));
    expect(rows.map(({ action, summary, actorType }) => [action, summary, actorType])).toEqual([
      ["skill.delete", { agents: [] }, "user"],
      ["skill.update", { changes: { version: { from: "0.1.0", to: "0.2.0" } } }, "user"],
      ["skill.create", { version: "0.1.0" }, "user"],
    ]);
  });
});
