import { z } from "@hono/zod-openapi";
import { type S3Secret, s3Places, s3Secrets } from "../../core/files/s3.ts";
import { fromBase64 } from "../../core/ids.ts";
import { definePlugin, type Plugin, type PluginSecret } from "../../core/plugins/plugin.ts";
import { describeTool } from "../tool.ts";

const labels: Record<S3Secret, string> = {
  s3_region: "S3 region",
  s3_bucket: "S3 bucket",
  s3_access_key_id: "S3 access key id",
  s3_secret_access_key: "S3 secret access key",
};

/** The secrets that `context.saveFile` reads itself. They are listed so that people see the settings. */
const secrets = s3Secrets.map(
  (key): PluginSecret => ({
    key,
    type: "text",
    label: labels[key],
    description:
      "All four together name the bucket for the agent's files. Without them files lie on this machine, which only an installation with the embedded database does.",
    optional: true,
    sensitive: !s3Places.has(key),
  }),
);

const upload = describeTool({
  name: "upload",
  description:
    "Saves a file of this conversation and answers a link to it, which you give to the person. Whoever has the link can read the file for 24 hours.",
  input: z.object({
    name: z.string().min(1, "must not be empty").max(255).describe("With its extension, such as report.csv."),
    content: z.string().describe("At most 20 MB."),
    encoding: z
      .enum(["utf8", "base64"])
      .default("utf8")
      .describe("How content is written; base64 for what is no text."),
    mime: z.string().max(127).optional().describe("The media type, such as text/csv."),
  }),
  writes: true,
  // Nothing leaves the conversation: only the people in it get the link.
  needsApproval: false,
  execute: async ({ name, content, encoding, mime }, { saveFile }) => {
    const bytes = encoding === "utf8" ? new TextEncoder().encode(content) : fromBase64(content);
    if (bytes === null) throw new Error("The arguments are not valid: content must be base64, as encoding says");
    const unnamed = encoding === "utf8" ? "text/plain" : "application/octet-stream";
    return { ...(await saveFile({ name, mime: mime ?? unnamed, bytes })) };
  },
});

const link = describeTool({
  name: "link",
  description:
    "Answers a new link to a file of this conversation, by its id: one that was saved, or one that a person sent. Whoever has the link can read the file for 24 hours.",
  input: z.object({ id: z.string().max(64).describe("The id of the file, as files:upload answered it.") }),
  writes: false,
  execute: async ({ id }, { linkFile }) => ({ ...(await linkFile(id)) }),
});

/** Files of the conversation, in the agent's S3 bucket or on this machine, and links to them. */
export const filesPlugin = (): Plugin =>
  definePlugin({ namespace: "files", title: "Files", hosts: [], secrets, tools: [upload, link] });
