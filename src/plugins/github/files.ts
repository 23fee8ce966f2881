import { z } from "@hono/zod-openapi";
import { fromBase64, toBase64 } from "../../core/ids.ts";
import { type JsonObject, objectOf } from "../../core/json.ts";
import type { PluginTool } from "../../core/plugins/plugin.ts";
import { zInt4, zText } from "../../core/text/text.ts";
import type { AskApi } from "../json-api.ts";
import { given, textOrNull } from "../shapes.ts";
import { describeTool, zForm } from "../tool.ts";
import { filePath, ref, repositoryFields } from "./fields.ts";
import { fileOf } from "./file-shapes.ts";
import { listFiles } from "./folders.ts";

export const fileTools = (ask: AskApi): PluginTool[] => [listFiles(ask), getFile(ask), putFile(ask)];

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

/** In bytes. More would exceed the 1 MiB of a request, since GitHub takes base64. */
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
