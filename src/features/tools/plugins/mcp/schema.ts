import { z } from "@hono/zod-openapi";
import { zText } from "../../../../core/text/text.ts";
import { organizationPath, Timestamp } from "../../../../http/shapes.ts";
import { envProblem, headersProblem, urlProblem } from "./rules.ts";

export const pluginPath = organizationPath.extend({
  namespace: z.string().openapi({
    description:
      "What its tools are called by: lower-case letters, digits and dashes. A new one can't have the namespace of a plugin of the server.",
    example: "crm",
  }),
});

const keepsStored = "A value that begins with `••••` keeps the stored one.";
const url = (description: string) => zText(2048).openapi({ description, example: "https://mcp.example.com/mcp" });
const headers = (description: string) =>
  z.record(zText(128), zText(8_192)).openapi({ description, example: { Authorization: "Bearer 9f2c1e" } });
const command = zText(1024).min(1, "must not be empty").openapi({ example: "npx" });
const args = z
  .array(zText(8_192))
  .max(64, "must have at most 64 entries")
  .openapi({ description: "Shown as they are: a credential belongs into `env`.", example: ["-y", "my-mcp-server"] });
const env = (description: string) =>
  z.record(zText(128), zText(16_384)).openapi({ description, example: { API_TOKEN: "9f2c1e" } });

/** A refinement that reports the text of a rule as its issue. */
const by =
  <Value>(problem: (value: Value) => string | null) =>
  (value: Value, context: z.RefinementCtx) => {
    const message = problem(value);
    if (message !== null) context.addIssue({ code: "custom", message });
  };

const HttpSettings = z
  .object({
    type: z.literal("http"),
    url: url(
      `Its address (Streamable HTTP). Its path is shown as it is: a credential belongs into a header. In its query too, a value that begins with \`••••\` keeps the stored one of this server. A host inside the network must stand in the policy \`httpAllowedHosts\`.`,
    ).superRefine(by(urlProblem)),
    headers: headers(`Sent with every request. ${keepsStored}`).superRefine(by(headersProblem)).default({}),
  })
  .openapi("HttpTransportSettings");

const StdioSettings = z
  .object({
    type: z.literal("stdio"),
    command,
    args: args.default([]),
    env: env(`All that the process gets beside PATH and HOME. ${keepsStored}`).superRefine(by(envProblem)).default({}),
  })
  .openapi("StdioTransportSettings", { description: "Needs the setting `ALLOW_STDIO_MCP=true`." });

const TransportSettings = z.discriminatedUnion("type", [HttpSettings, StdioSettings]);

export const PluginSettings = z
  .object({
    kind: z.literal("mcp"),
    transport: TransportSettings,
    enabled: z.boolean().optional().openapi({ description: "Left out: as it is, and on for a new one." }),
  })
  .openapi("PluginSettings");
export type PluginSettings = z.infer<typeof PluginSettings>;

const masked = "Values show as `••••` and their last four characters.";

const Transport = z.discriminatedUnion("type", [
  z
    .object({
      type: z.literal("http"),
      url: url(
        `Its address; the values of its query, and long parts of its path with a digit, show as the headers do.`,
      ),
      headers: headers(masked),
    })
    .openapi("HttpTransport"),
  z.object({ type: z.literal("stdio"), command, args, env: env(masked) }).openapi("StdioTransport"),
]);

const PluginShape = z
  .object({
    namespace: z.string().openapi({ example: "crm" }),
    kind: z.literal("mcp"),
    transport: Transport,
    enabled: z.boolean(),
    status: z.enum(["connected", "failed", "disabled", "unknown"]).openapi({
      description: "How it went when its tools were last listed; `unknown`: they never were.",
    }),
    lastError: z.string().nullable().openapi({
      description: "Why that failed, which of its tools can't be used, or why it may not be started.",
      example: "The host refused the connection",
    }),
    tools: z.array(
      z
        .object({ name: z.string().openapi({ example: "find_customer" }), description: z.string() })
        .openapi("PluginTool"),
    ),
    updatedAt: Timestamp,
  })
  .openapi("Plugin");
export type Plugin = z.infer<typeof PluginShape>;

export const PluginAnswer = z.object({ plugin: PluginShape }).openapi("PluginAnswer");
export const Plugins = z.object({ plugins: z.array(PluginShape) }).openapi("Plugins");
