import { z } from "@hono/zod-openapi";
import { fromBase64, toBase64 } from "../../core/ids.ts";
import { type JsonObject, listOf, objectOf, textOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugin.ts";
import { zInt4, zText } from "../../core/text.ts";
import type { AskApi } from "../json-api.ts";
import { given, isTrue, textOrNull } from "../shapes.ts";
import { describeTool, zForm } from "../tool.ts";
import { filePath, folderPath, ref, repositoryFields } from "./fields.ts";
import { fileOf, folderEntry, treeEntry } from "./file-shapes.ts";

export const fileTools = (ask: AskApi): PluginTool[] => [listFiles(ask), getFile(ask), putFile(ask)];

/** GitHub gives whole folders; a page keeps the model's prompt small. */
const entriesPerPage = 200;

const listFiles = (ask: AskApi) =>
  describeTool({
    name: "listFiles",
    description:
      "Lists a folder of a GitHub repository, 200 entries a page. `next` is the next page, null on the last one. `incomplete`: GitHub left entries out; list the folders one by one.",
    input: z.object({
      ...repositoryFields,
      path: folderPath.describe("From the root; the root when absent."),
      ref,
      recursive: z.boolean().default(false).describe("Whether to list all folders below it too."),
      page: z.int().min(1).max(10_000).default(1).describe("Take `next` of the page before."),
    }),
    writes: false,
    execute: async ({ owner, repo, path, ref, recursive, page }, context) => {
      const repository = ["repos", owner, repo];
      if (!recursive) {
        const { body } = await ask(context, { path: [...repository, "contents", ...path], query: { ref } });
        if (!Array.isArray(body)) throw new Error("This is no folder; getFile reads a file");
        return { ...pageOf(body.map(folderEntry), page), incomplete: body.length >= mostInFolder };
      }
      const tree = [...repository, "git", "trees", ref ?? "HEAD"];
      const body = objectOf((await ask(context, { path: tree, query: { recursive: 1 } })).body);
      const entries = listOf(body.tree).map(treeEntry).filter(isBelow(path));
      return { ...pageOf(entries, page), incomplete: isTrue(body.truncated) };
    },
  });

/** GitHub lists no more entries of a folder. */
const mostInFolder = 1_000;

function isBelow(folder: readonly string[]): (entry: JsonObject) => boolean {
  const prefix = folder.map((part) => `${part}/`).join("");
  return ({ path }) => textOf(path).startsWith(prefix);
}

function pageOf(entries: JsonObject[], page: number): JsonObject {
  const end = page * entriesPerPage;
  return {
    entries: entries.slice(end - entriesPerPage, end),
    total: entries.length,
    next: end < entries.length ? page + 1 : null,
  };
}

const getFile = (ask: AskApi) =>
  describeTool({
    name: "getFile",
    description:
      "Reads a text file of a GitHub repository, at most 40000 characters at once. `next` is the offset to read on from, null at the end. `sha` is what putFile wants to replace the file.",
    input: z.object({
      ...repositoryFields,
      path: filePath.describe("From the root, such as docs/guide.md."),
      ref,
      offset: zInt4().default(0).describe("Take `next` of the call before."),
    }),
    writes: false,
    execute: async ({ owner, repo, path, ref, offset }, context) => {
      const answer = await ask(context, { path: ["repos", owner, repo, "contents", ...path], query: { ref } });
      return fileOf(answer, offset);
    },
  });

/** In base64, as GitHub wants it, more would exceed the 1 MiB of a request. */
const mostBytes = 700_000;

const putFile = (ask: AskApi) =>
  describeTool({
    name: "putFile",
    description:
      "Writes a file of a GitHub repository as one commit. To replace a file, give its `sha` from getFile; without it a file that exists is left alone.",
    input: z.object({
      ...repositoryFields,
      path: filePath.describe("From the root, such as docs/guide.md."),
      content: z.string().max(1_000_000, "must be at most 1000000 characters").describe("The whole new content."),
      encoding: z.enum(["utf8", "base64"]).default("utf8").describe("How `content` is written."),
      message: zText(10_000).min(1, "must not be empty").describe("The commit's message."),
      branch: zText(250).min(1, "must not be empty").optional().describe("The default branch when absent."),
      sha: zForm(/^([0-9a-f]{40}|[0-9a-f]{64})$/, "must be the sha that getFile gave")
        .optional()
        .describe("Of the file to replace."),
    }),
    writes: true,
    execute: async ({ owner, repo, path, content, encoding, message, branch, sha }, context) => {
      const { body } = await ask(context, {
        method: "PUT",
        path: ["repos", owner, repo, "contents", ...path],
        json: given({ message, content: toBase64(bytesOf(content, encoding)), branch, sha }),
      });
      return writtenFile(body);
    },
  });

function bytesOf(content: string, encoding: "utf8" | "base64"): Uint8Array<ArrayBuffer> {
  const bytes = encoding === "utf8" ? new TextEncoder().encode(content) : fromBase64(content);
  if (!bytes) throw new Error("content is not valid base64");
  if (bytes.length > mostBytes)
    throw new Error(`content has ${bytes.length} bytes; at most ${mostBytes} can be written`);
  return bytes;
}

function writtenFile(body: unknown): JsonObject {
  const { content, commit } = objectOf(body);
  const file = objectOf(content);
  return {
    path: textOrNull(file.path),
    sha: textOrNull(file.sha),
    url: textOrNull(file.html_url),
    commit: textOrNull(objectOf(commit).sha),
    commitUrl: textOrNull(objectOf(commit).html_url),
  };
}
