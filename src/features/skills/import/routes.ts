import type { Context } from "hono";
import { EngineError } from "../../../core/errors.ts";
import type { AppEnv } from "../../../http/environment.ts";
import { invalid } from "../../../http/errors.ts";
import { readLargeJson } from "../../../http/large-json.ts";
import { errorAnswers, guarded, json, router } from "../../../http/route.ts";
import { organizationPath } from "../../../http/shapes.ts";
import { readFormFile } from "./form.ts";
import { ImportAnswer, importLimit, parseImport, type SkillImport } from "./schema.ts";
import { importSkills } from "./service.ts";

const binary = { type: "string", format: "binary" } as const;

const route = guarded(
  "skill.catalog:write",
  {
    method: "post",
    path: "/api/organizations/{orgSlug}/skills/catalog/import",
    operationId: "importSkills",
    tags: ["Skills"],
    summary: "Import skills",
    description:
      "As JSON, or as a zip of folders with a `SKILL.md` each: YAML front matter with name and description, then the content; `scripts/*.js` become scripts, and `references/*.md` are appended to the content. At most 8 MiB, also once unpacked. Skills that are there get what they lack as new versions; nothing stored is replaced. More than 500 skills of the organization, or versions of a skill, or 16 MiB of the skills' content and requirements in all, or 512 MiB in the database with the scripts of all versions, are 409. All or nothing.",
    request: {
      params: organizationPath,
      body: {
        content: {
          // A reference, since a schema here would be checked before the handler, whose error for other content types
          // is better.
          "application/json": { schema: { $ref: "#/components/schemas/SkillImport" } },
          "application/zip": { schema: binary },
          "multipart/form-data": {
            schema: { type: "object", properties: { file: binary }, required: ["file"] },
          },
        },
      },
    },
    responses: {
      201: json(ImportAnswer, "How many skills there were of each kind."),
      ...errorAnswers(404, 409, 413, 415),
    },
  },
  { bodyLimit: importLimit },
);

/** The import. Its body may be larger than those of other routes. */
export const importRoutes = router().openapi(route, async (c) => {
  const { skills, ignored } = await readBody(c);
  return c.json({ ...(await importSkills(c.var.ctx, skills)), ignored }, 201);
});

async function readBody(c: Context<AppEnv>): Promise<{ skills: SkillImport["skills"]; ignored: string[] }> {
  const header = c.req.header("Content-Type") ?? "";
  const type = header.split(";")[0]?.trim().toLowerCase() ?? "";
  if (jsonType.test(type)) return { skills: await readJson(c), ignored: [] };
  const form = type === "multipart/form-data";
  if (form || zipTypes.has(type)) {
    const bytes = new Uint8Array(await c.req.arrayBuffer());
    // Loaded when needed, since few servers read archives.
    const { readArchive } = await import("./archive.ts");
    return readArchive(form ? readFormFile(header, bytes) : bytes);
  }
  throw new EngineError(
    "unsupported-media-type",
    "Content-Type must be application/json, application/zip, or multipart/form-data with a field file",
  );
}

const jsonType = /^application\/([\w.-]+\+)?json$/;
const zipTypes: ReadonlySet<string> = new Set(["application/zip", "application/x-zip-compressed"]);

async function readJson(c: Context<AppEnv>): Promise<SkillImport["skills"]> {
  const parsed = parseImport(await readLargeJson(c));
  if ("issues" in parsed) throw invalid(parsed.issues);
  return parsed.skills;
}
