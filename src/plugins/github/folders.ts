import { z } from "@hono/zod-openapi";
import { type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { ApiAnswer, ApiRequest, AskApi } from "../json-api.ts";
import { isTrue } from "../shapes.ts";
import { describeTool } from "../tool.ts";
import { folderPath, ref, repositoryFields } from "./fields.ts";
import { folderEntry, treeEntry } from "./file-shapes.ts";

/** GitHub returns whole folders. Pages keep the model's prompt small. */
const entriesPerPage = 200;

export const listFiles = (ask: AskApi) =>
  describeTool({
    name: "listFiles",
    description:
      "Lists a folder of a GitHub repository, 200 entries a page. `next` is the next page, null on the last one. `incomplete`: GitHub left entries out; list the folders one by one.",
    input: z.object({
      ...repositoryFields,
      path: folderPath.describe("From the root; the root when absent."),
      ref,
      recursive: z
        .boolean()
        .default(false)
        .describe("Whether to list all folders below it too, of up to about 4000 files."),
      page: z.int().min(1).max(10_000).default(1).describe("Take `next` of the page before."),
    }),
    writes: false,
    execute: async ({ recursive, page, ...folder }, context) => {
      const list = recursive ? listBelow : listFolder;
      const { entries, incomplete } = await list((request) => ask(context, request), folder);
      const end = page * entriesPerPage;
      return {
        entries: entries.slice(end - entriesPerPage, end),
        total: entries.length,
        next: end < entries.length ? page + 1 : null,
        incomplete,
      };
    },
  });

interface Folder {
  owner: string;
  repo: string;
  path: readonly string[];
  ref?: string | undefined;
}

interface Listing {
  entries: JsonObject[];
  incomplete: boolean;
}

type Ask = (request: ApiRequest) => Promise<ApiAnswer>;

/** GitHub lists no more entries of a folder than this. */
const mostInFolder = 1_000;

async function entriesOf(ask: Ask, { owner, repo, path, ref }: Folder): Promise<unknown[]> {
  const { body } = await ask({ path: ["repos", owner, repo, "contents", ...path], query: { ref } });
  if (!Array.isArray(body)) throw new Error("This is no folder; getFile reads a file");
  return body;
}

async function listFolder(ask: Ask, folder: Folder): Promise<Listing> {
  const entries = await entriesOf(ask, folder);
  return { entries: entries.map(folderEntry), incomplete: entries.length >= mostInFolder };
}

async function listBelow(ask: Ask, folder: Folder): Promise<Listing> {
  const { owner, repo, path, ref = "HEAD" } = folder;
  const tree = path.length === 0 ? ref : await treeOf(ask, folder);
  const answer = await ask({ path: ["repos", owner, repo, "git", "trees", tree], query: { recursive: 1 } });
  const body = objectOf(answer.body);
  return { entries: listOf(body.tree).map((entry) => treeEntry(entry, path)), incomplete: isTrue(body.truncated) };
}

/** The sha of a folder's tree, from the list of its parent. */
async function treeOf(ask: Ask, folder: Folder): Promise<string> {
  const path = folder.path.join("/");
  const around = await entriesOf(ask, { ...folder, path: folder.path.slice(0, -1) });
  const found = around.map(objectOf).find((entry) => entry.path === path && entry.type === "dir");
  if (!found) throw new Error(`There is no folder ${path}`);
  return textOf(found.sha);
}
