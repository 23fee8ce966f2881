import { desc, eq } from "drizzle-orm";
import { strToU8, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { auditLogs } from "../../../../src/db/schema.ts";
import { catalogue, type Fields, kitchen, type Refusal, read, refunds, refusal } from "../skills.ts";

const url = `${catalogue}/catalog/import`;
const script = { file: "total.js", description: "Adds up", content: "export default () => 1" };
const full = {
  ...refunds,
  category: "support",
  requiredEnv: [{ name: "TOKEN", description: "What for", sensitive: true, hosts: ["api.example.com"] }],
  requiredTools: ["httpRequest"],
  scripts: [script],
};

describe("importing JSON", () => {
  it("makes skills, and says how many", async () => {
    const { send } = await kitchen();
    const answer = await send("POST", url, { skills: [full, { ...refunds, name: "Other" }] });
    expect([answer.status, await answer.json()]).toEqual([201, { created: 2, updated: 0, skipped: 0, ignored: [] }]);
    const { scripts, ...shown } = full;
    expect(await read(send("GET", `${catalogue}/refunds`))).toEqual({ ...shown, slug: "refunds", version: "0.1.0" });
    const { skills } = await read<{ skills: Fields[] }>(send("GET", `${catalogue}/refunds/export`));
    expect(skills).toMatchObject([{ ...full, versions: [{ version: "0.1.0", changelog: null, scripts }] }]);
  });

  it("skips equal skills, and saves a version of different ones", async () => {
    const { send } = await kitchen();
    const again = (fields: Fields) => read(send("POST", url, { skills: [{ ...full, ...fields }] }));
    await again({});
    expect(await again({})).toMatchObject({ created: 0, updated: 0, skipped: 1 });
    expect(await again({ content: "new" })).toMatchObject({ created: 0, updated: 1, skipped: 0 });
    expect(await again({ content: "new", scripts: [] })).toMatchObject({ updated: 1 });
    expect(await again({ content: "new", scripts: [], category: "sales" })).toMatchObject({ updated: 1 });
    expect(await again({ content: "new", scripts: [], category: undefined })).toMatchObject({ skipped: 1 });
    expect(await read(send("GET", `${catalogue}/refunds`))).toMatchObject({ version: "0.3.0", category: "sales" });
  });

  it("keeps the scripts when the text is saved by hand", async () => {
    const { send } = await kitchen();
    await send("POST", url, { skills: [full] });
    await send("PUT", `${catalogue}/refunds`, refunds);
    const { skills } = await read<{ skills: Fields[] }>(send("GET", `${catalogue}/refunds/export`));
    expect(skills[0]).toMatchObject({ scripts: [script], versions: [{ version: "0.2.0" }, { version: "0.1.0" }] });
  });

  it("carries a skill with its whole history to another organization, and later only its new versions", async () => {
    const { h, create, send } = await kitchen();
    await create({ category: "support" });
    await send("PUT", `${catalogue}/refunds`, { ...refunds, content: "two", changelog: "Second" });
    const other = await h.createOrganization("globex");
    const stranger = await h.as("owner", { organization: other });
    const theirs = "/api/organizations/globex/skills";
    const carry = async () =>
      read(send("POST", `${theirs}/catalog/import`, await read(send("GET", `${catalogue}/refunds/export`)), stranger));
    const versions = async (path: string, as?: Record<string, string>) =>
      (await read<{ versions: Fields[] }>(send("GET", `${path}/refunds/versions`, undefined, as))).versions.map(
        ({ id, ...version }) => version,
      );

    expect(await carry()).toMatchObject({ created: 1 });
    expect(await versions(theirs, stranger)).toEqual(await versions(catalogue));
    expect(await carry()).toMatchObject({ skipped: 1 });
    await send("PUT", `${catalogue}/refunds`, { ...refunds, content: "three", changelog: "Third" });
    expect(await carry()).toMatchObject({ updated: 1 });
    expect(await versions(theirs, stranger)).toEqual(await versions(catalogue));
    expect(await read(send("GET", `${theirs}/refunds`, undefined, stranger))).toEqual(
      await read(send("GET", `${catalogue}/refunds`)),
    );
  });

  it("is all or nothing", async () => {
    const { create, send } = await kitchen();
    await create({ name: "Taken!" });
    const good = [full, { ...refunds, name: "Other" }];
    const bad: [Fields, number, string][] = [
      [{ ...refunds, name: "taken?" }, 409, "The slug taken- is taken: change that skill, or choose another name"],
      [
        { ...refunds, name: "Last", requiredTools: ["ghIssue"] },
        400,
        "skills.2.requiredTools: this organization has no such tool: ghIssue",
      ],
      [
        {
          ...refunds,
          name: "Last",
          versions: [{ ...refunds, version: "0.1.0", requiredTools: ["gone:tool", "ghIssue"] }],
        },
        400,
        "skills.2.versions.0.requiredTools: this organization has no such tool: ghIssue",
      ],
      [{ ...refunds, name: "REFUNDS" }, 400, "skills: two of them have the slug refunds"],
      [{ ...refunds, name: "Last", content: 5 }, 400, "skills.2.content: "],
    ];
    for (const [last, status, message] of bad) {
      const [got, said] = await refusal(send("POST", url, { skills: [...good, last] }));
      expect([status, got, said.startsWith(message)]).toEqual([status, status, true]);
    }
    const { skills } = await read<{ skills: Fields[] }>(send("GET", catalogue));
    expect(skills.map(({ slug }) => slug)).toEqual(["taken-"]);
  });

  it("refuses what can't be imported, by the name of the field", async () => {
    const { send } = await kitchen();
    const version = { version: "0.1.0", description: "d", content: "c" };
    const wrong: [Fields, string][] = [
      [{ tags: [] }, "skills.0.tags"],
      [{ version: "0.1.0" }, "skills.0.version"],
      [{ scripts: [{ ...script, file: "../evil.js" }] }, "skills.0.scripts.0.file"],
      [{ scripts: [{ ...script, file: "a/../b.js" }] }, "skills.0.scripts.0.file"],
      [{ scripts: [{ ...script, file: "/a.js" }] }, "skills.0.scripts.0.file"],
      [{ scripts: [{ ...script, file: "a.py" }] }, "skills.0.scripts.0.file"],
      [{ scripts: [script, script] }, "skills.0.scripts"],
      [{ scripts: [{ file: "a.js" }] }, "skills.0.scripts.0.content"],
      [{ versions: [version, version] }, "skills.0.versions"],
      [{ versions: [{ ...version, version: "1.0" }] }, "skills.0.versions.0.version"],
      [{ versions: [{ ...version, version: "01.0.0" }] }, "skills.0.versions.0.version"],
      [{ versions: [{ ...version, version: "1.0.0-beta" }] }, "skills.0.versions.0.version"],
      [{ versions: [{ ...version, version: "9999999.0.0" }] }, "skills.0.versions.0.version"],
      [{ versions: [{ ...version, createdAt: "yesterday" }] }, "skills.0.versions.0.createdAt"],
      [{ versions: [{ ...version, content: undefined }] }, "skills.0.versions.0.content"],
    ];
    for (const [fields, path] of wrong) {
      const answer = await send("POST", url, { skills: [{ ...refunds, ...fields }] });
      const body = (await answer.json()) as Refusal;
      expect([fields, answer.status, body.issues?.map((issue) => issue.path)]).toEqual([fields, 400, [path]]);
    }
    for (const body of [{}, { skills: [] }, { skills: refunds }, [], null]) {
      expect((await send("POST", url, body)).status).toBe(400);
    }
    expect(await read(send("GET", catalogue))).toEqual({ skills: [] });
  });

  it("keeps imported numbers, and continues from the highest", async () => {
    const { send } = await kitchen();
    const versions = ["1.4.2", "0.3.0", "0.10.0"].map((version) => ({ version, ...refunds, content: version }));
    await send("POST", url, { skills: [{ ...refunds, content: "1.4.2", versions }] });
    expect(await read(send("GET", `${catalogue}/refunds`))).toMatchObject({ version: "1.4.2", content: "1.4.2" });
    await send("PUT", `${catalogue}/refunds`, refunds);
    const listed = await read<{ versions: Fields[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(listed.versions.map(({ version }) => version)).toEqual(["1.5.0", "1.4.2", "0.10.0", "0.3.0"]);
  });

  it("makes a skill once when two imports come at once", async () => {
    const { send } = await kitchen();
    const answers = await Promise.all([1, 2, 3].map(() => send("POST", url, { skills: [full] })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
    expect(statuses).toContain(201);
    const { versions } = await read<{ versions: unknown[] }>(send("GET", `${catalogue}/refunds/versions`));
    expect(versions).toHaveLength(1);
  });

  it("is in the audit log, unless it changed nothing", async () => {
    const { h, send } = await kitchen();
    await send("POST", url, { skills: [full, { ...refunds, name: "Other" }] });
    await send("POST", url, { skills: [full] });
    const rows = await h.services.database.db
      .select()
      .from(auditLogs)
      .where(eq(auditLogs.action, "skill.import"))
      .orderBy(desc(auditLogs.createdAt), desc(auditLogs.id));
    expect(rows.map(({ target, summary }) => [target, summary])).toEqual([
      ["catalogue", { created: ["refunds", "other"], updated: [], skipped: [] }],
    ]);
  });
});

describe("the body of an import", () => {
  const refused = async () => {
    const { h, headers } = await kitchen();
    return (type: string | null, body: BodyInit) => {
      const sent = { ...headers, ...(type === null ? {} : { "Content-Type": type }) };
      return refusal(h.request(url, { method: "POST", headers: sent, body }));
    };
  };

  it("must be of a type that is known", async () => {
    const post = await refused();
    const message = "Content-Type must be application/json, application/zip, or multipart/form-data with a field file";
    for (const type of ["text/plain", "application/octet-stream", "application/xml"]) {
      expect(await post(type, "{}")).toEqual([415, message]);
    }
  });

  it("must be what its type says", async () => {
    const post = await refused();
    expect(await post("application/json", "{")).toEqual([400, "The body is not valid JSON"]);
    expect(await post("application/json ; charset=utf-8", "{")).toEqual([400, "The body is not valid JSON"]);
    expect(await post("application/json ; charset=utf-8", "{}")).toEqual([400, expect.stringContaining("skills: ")]);
    expect(await post("multipart/form-data; boundary=x", "nothing")).toEqual([
      400,
      "The body is not valid multipart/form-data",
    ]);
    expect(await post("application/zip", "nothing")).toEqual([400, "The archive is refused: it is damaged, or no zip"]);
    const form = new FormData();
    form.set("file", "text");
    expect(await post(null, form)).toEqual([400, "file: must be a zip archive, sent as a file"]);
  });

  it("may have 8 MiB, where other bodies may have one", async () => {
    const { h, headers, send } = await kitchen();
    const skills = Array.from({ length: 20 }, (_, n) => ({
      ...refunds,
      name: `Skill ${n}`,
      content: "x".repeat(200_000),
    }));
    expect(await read(send("POST", url, { skills }))).toMatchObject({ created: 20 });
    const body = "x".repeat(8 * 1024 * 1024 + 1);
    const limit = "The body may have at most 8388608 bytes";
    for (const declared of [{}, { "Content-Length": String(body.length) }]) {
      const sent = { ...headers, ...declared, "Content-Type": "application/json" };
      expect(await refusal(h.request(url, { method: "POST", headers: sent, body }))).toEqual([413, limit]);
    }
    const large = { ...refunds, content: "x".repeat(1024 * 1024) };
    expect(await refusal(send("POST", catalogue, large))).toEqual([413, "The body may have at most 1048576 bytes"]);
  });

  it("is read over a real connection, in one piece or as a stream", async () => {
    const { h, headers } = await kitchen();
    const address = `${await h.listen()}${url}`;
    const zip = new Uint8Array(zipSync({ "SKILL.md": strToU8("---\nname: Refunds\ndescription: d\n---\nx") }));
    const sent = { method: "POST", headers: { ...headers, "Content-Type": "application/zip" } };
    expect(await read(fetch(address, { ...sent, body: zip }))).toMatchObject({ created: 1 });
    const streamed = { ...sent, body: new Blob([zip]).stream(), duplex: "half" };
    expect(await read(fetch(address, streamed))).toMatchObject({ skipped: 1 });
  });

  it("is read up to 16 MiB and dropped when the caller may not import", async () => {
    const { h } = await kitchen();
    const viewer = await h.as("viewer");
    const attempts: [Record<string, string>, number][] = [
      [{}, 401],
      [{ Authorization: "Bearer nothing" }, 401],
      [viewer, 403],
      [{ ...viewer, "X-Organization": "globex" }, 404],
    ];
    for (const [headers, status] of attempts) {
      let pulls = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            pulls += 1;
            controller.enqueue(new Uint8Array(64 * 1024));
          },
        },
        { highWaterMark: 0 },
      );
      const init = { method: "POST", headers: { ...headers, "Content-Type": "application/zip" }, body, duplex: "half" };
      expect((await h.request(url, init)).status).toBe(status);
      expect(pulls * 64 * 1024).toBeLessThanOrEqual(17 * 1024 * 1024);
    }
  });
});
