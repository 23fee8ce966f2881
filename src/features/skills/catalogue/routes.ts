import { errorAnswers, guarded, json, jsonBody, router } from "../../../http/route.ts";
import { Deleted, organizationPath } from "../../../http/shapes.ts";
import { SkillImport } from "../import/schema.ts";
import { skillPath } from "../schema.ts";
import { NewSkill, Skill, SkillChanges, SkillList, SkillVersion, SkillVersions, versionPath } from "./schema.ts";
import { createSkill, deleteSkill, getSkill, listSkills, updateSkill } from "./service.ts";
import { exportSkill, getVersion, listVersions } from "./versions.ts";

const tags = ["Skills"];
const path = "/api/organizations/{orgSlug}/skills";

const list = guarded("skill.catalog:read", {
  method: "get",
  path,
  operationId: "listSkills",
  tags,
  summary: "The organization's skills",
  description: "By name, each as its current version has it.",
  request: { params: organizationPath },
  responses: { 200: json(SkillList, "The skills."), ...errorAnswers(404) },
});

const create = guarded("skill.catalog:write", {
  method: "post",
  path,
  operationId: "createSkill",
  tags,
  summary: "Create a skill",
  description:
    "Version 0.1.0. The slug is the name in lower case, with a dash for each character outside a-z, 0-9 and -. No workspace may use it until it is allowed there. An organization has at most 500 skills, with 16 MiB of content and requirements in all: more are 409.",
  request: { params: organizationPath, body: jsonBody(NewSkill) },
  responses: { 201: json(Skill, "The new skill."), ...errorAnswers(404, 409) },
});

const get = guarded("skill.catalog:read", {
  method: "get",
  path: `${path}/{name}`,
  operationId: "getSkill",
  tags,
  summary: "Read a skill",
  description: "As its current version has it.",
  request: { params: skillPath },
  responses: { 200: json(Skill, "The skill."), ...errorAnswers(404) },
});

const update = guarded("skill.catalog:write", {
  method: "put",
  path: `${path}/{name}`,
  operationId: "updateSkill",
  tags,
  summary: "Save a new version of a skill",
  description:
    "Replaces description, content, required variables and tools: the two lists become empty when left out. Scripts stay as they are. The next minor version is made, behind `0.999999.0` the next major one; agents keep the one they pinned until they are upgraded. A skill has at most 500 versions, and the organization's skills have 16 MiB in all, and 512 MiB in the database with the scripts of all versions: more are 409.",
  request: { params: skillPath, body: jsonBody(SkillChanges) },
  responses: { 200: json(Skill, "The skill as it is now."), ...errorAnswers(404, 409) },
});

const remove = guarded("skill.catalog:write", {
  method: "delete",
  path: `${path}/{name}`,
  operationId: "deleteSkill",
  tags,
  summary: "Delete a skill",
  description:
    "With its versions, and with what agents stored for it. Agents lose it at once, and the tools that only it had turned on. There is no way back.",
  request: { params: skillPath },
  responses: { 200: json(Deleted, "It is gone."), ...errorAnswers(404) },
});

const versions = guarded("skill.catalog:read", {
  method: "get",
  path: `${path}/{name}/versions`,
  operationId: "listSkillVersions",
  tags,
  summary: "The versions of a skill",
  description: "Newest first.",
  request: { params: skillPath },
  responses: { 200: json(SkillVersions, "The versions."), ...errorAnswers(404) },
});

const version = guarded("skill.catalog:read", {
  method: "get",
  path: `${path}/{name}/versions/{version}`,
  operationId: "getSkillVersion",
  tags,
  summary: "Read one version of a skill",
  description: "By its number.",
  request: { params: versionPath },
  responses: { 200: json(SkillVersion, "The skill as that version has it."), ...errorAnswers(404) },
});

const exported = guarded("skill.catalog:read", {
  method: "get",
  path: `${path}/{name}/export`,
  operationId: "exportSkill",
  tags,
  summary: "Export a skill",
  description:
    "With its versions and scripts, in the form that the import takes; only the newest versions where all have over 8 MiB together.",
  request: { params: skillPath },
  responses: { 200: json(SkillImport, "What to import elsewhere."), ...errorAnswers(404) },
});

/** `/api/organizations/{orgSlug}/skills`, without the import. */
export const catalogueRoutes = router()
  .openapi(list, async (c) => c.json({ skills: await listSkills(c.var.ctx) }, 200))
  .openapi(create, async (c) => c.json(await createSkill(c.var.ctx, c.req.valid("json")), 201))
  .openapi(get, async (c) => c.json(await getSkill(c.var.ctx, c.req.valid("param").name), 200))
  .openapi(update, async (c) => {
    const { name } = c.req.valid("param");
    return c.json(await updateSkill(c.var.ctx, name, c.req.valid("json")), 200);
  })
  .openapi(remove, async (c) => {
    await deleteSkill(c.var.ctx, c.req.valid("param").name);
    return c.json({ deleted: true as const }, 200);
  })
  .openapi(versions, async (c) => {
    return c.json({ versions: await listVersions(c.var.ctx, c.req.valid("param").name) }, 200);
  })
  .openapi(version, async (c) => {
    const { name, version: number } = c.req.valid("param");
    return c.json(await getVersion(c.var.ctx, name, number), 200);
  })
  .openapi(exported, async (c) => {
    return c.json({ skills: [await exportSkill(c.var.ctx, c.req.valid("param").name)] }, 200);
  });
