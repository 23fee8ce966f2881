import { z } from "@hono/zod-openapi";
import { zInt4, zText } from "../../core/text/text.ts";
import { zForm } from "../tool.ts";

/** The name of an account or repository, in a form that can't change the path of a request. */
const name = (what: string) =>
  zForm(
    /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/,
    "must be a name of letters, digits, dots, dashes and underscores",
  ).describe(what);

export const repositoryFields = {
  owner: name("The account, such as octocat of octocat/Hello-World."),
  repo: name("The repository's name, such as Hello-World."),
};

export const issueNumber = zInt4(1).describe("The number, as in #123.");

export const pageFields = {
  page: z.int().min(1).max(1_000).default(1).describe("Take `next` of the page before."),
  perPage: z.int().min(1).max(100).default(20).describe("Fewer when an answer is too large."),
};

export interface Paging {
  page: number;
  perPage: number;
}

export const pageQuery = ({ page, perPage }: Paging) => ({ page, per_page: perPage });

export const title = zText(256).min(1, "must not be empty");
export const markdown = zText(65_536).describe("Markdown.");
export const names = z.array(zText(100).min(1, "must not be empty")).max(100);

const path = zText(2_048);

/** The parts of a path in a repository. Empty parts and `..` are refused. */
export const filePath = path
  .transform((text, context) => partsOf(text, context))
  .refine((parts) => parts.length > 0, {
    message: "must name a file, such as docs/guide.md",
  });

/** `filePath` that may be empty, for the root. */
export const folderPath = path.default("").transform((text, context) => partsOf(text, context));

function partsOf(text: string, context: z.RefinementCtx): string[] {
  const bare = text.replace(/^\.?\//, "").replace(/\/$/, "");
  const parts = bare === "" || bare === "." ? [] : bare.split("/");
  if (!parts.some((part) => /^\.{0,2}$/.test(part))) return parts;
  context.addIssue("must be a path from the root of the repository, such as docs/guide.md, without .. or empty parts");
  return z.NEVER;
}

export const ref = zText(250)
  .min(1, "must not be empty")
  .optional()
  .describe("A branch, tag or commit; the default branch when absent.");
