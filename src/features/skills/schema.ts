import { z } from "@hono/zod-openapi";
import { zText } from "../../core/text/text.ts";
import { organizationPath } from "../../http/shapes.ts";
import { namesHostsInVain, versionPattern } from "./rules.ts";

const notBlank = (text: string) => text.trim() !== "";
const empty = "must not be empty";

/** Fields that skills do not have (spec "Skill"), each with the reason why a body with it is refused. */
const unsupported = "is not a field of skills; leave it out";
export const neverFields = {
  tags: unsupported,
  language: unsupported,
  requiredSecrets: "is not a field of skills; use requiredEnv",
  dependsOnTools: "is not a field of skills; use requiredTools",
  version: "is given by the server; leave it out",
};
/** A schema that first refuses bodies with these fields. */
export function refusing<Schema extends z.ZodType>(fields: Readonly<Record<string, string>>, schema: Schema) {
  return z.preprocess((body, context) => {
    if (typeof body !== "object" || body === null) return body;
    for (const [field, message] of Object.entries(fields)) {
      if (Object.hasOwn(body, field)) context.addIssue({ code: "custom", path: [field], message, input: body });
    }
    return body;
  }, schema);
}

const host = z
  .string()
  .max(259, "must be at most 259 characters")
  .toLowerCase()
  .regex(/^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?)(:\d{1,5})?$/, "must be a host such as api.example.com")
  .openapi({ example: "api.example.com" });

/** The name of a variable. */
export const EnvKey = zText(128)
  .min(1, empty)
  // URL parsers remove dot segments, so such a key could never be addressed.
  .refine((key) => key !== "." && key !== "..", "must not be . or ..")
  .openapi({ description: "Any text; by convention UPPER_SNAKE_CASE.", example: "API_TOKEN" });

export const RequiredEnv = z
  .object({
    name: EnvKey,
    description: zText(1000).optional().openapi({ example: "Token of the weather service." }),
    sensitive: z.boolean().default(true).openapi({ description: "Whether its value is never shown." }),
    hosts: z.array(host).max(32, "must have at most 32 entries").optional().openapi({
      description:
        "When it lists any, the value goes to these hosts only, so it must be sensitive. `host` is by https at its own port, 443; `host:port` is that port.",
    }),
  })
  .refine((spec) => !namesHostsInVain(spec), { path: ["hosts"], error: "are for a value that is sensitive" })
  .openapi("RequiredEnv");
export type RequiredEnv = z.infer<typeof RequiredEnv>;

const distinct = (list: readonly { name: string }[]) => new Set(list.map(({ name }) => name)).size === list.length;

const toolName = zText(200)
  .min(1, empty)
  // Drizzle loses backslashes when the driver passes arrays as text.
  .refine((name) => !name.includes("\\"), "must not contain a backslash");

/** The fields of a version, with their descriptions. */
export const versionFields = {
  description: zText(2000)
    .refine(notBlank, empty)
    .openapi({ description: "One line; tells the model when to use the skill.", example: "How to answer on refunds." }),
  content: zText(262_144)
    .refine(notBlank, empty)
    .openapi({ description: "Markdown. A `---` block in it stays text.", example: "# Refunds\n\nAsk for the order." }),
  requiredEnv: z
    .array(RequiredEnv)
    .max(64, "must have at most 64 entries")
    .refine(distinct, "must not name a variable twice")
    .default([]),
  requiredTools: z
    .array(toolName)
    .max(64, "must have at most 64 entries")
    .overwrite((names) => [...new Set(names)])
    .default([])
    .openapi({
      description: "Turned on with the skill; a plugin's as `<namespace>:<tool>`.",
      example: ["httpRequest"],
    }),
};

export const SkillName = zText(128).refine(notBlank, empty).openapi({
  description: "Fixed once the skill is made. Its slug is made from it and must be free.",
  example: "Refunds",
});

export const Category = zText(64).trim().min(1, empty).openapi({ example: "general" });

export const VersionNumber = z
  .string()
  .regex(versionPattern, "must be three numbers, such as 1.2.0")
  .openapi({ example: "0.2.0" });

export const skillPath = organizationPath.extend({
  name: z.string().openapi({ description: "Slug of the skill.", example: "refunds" }),
});
