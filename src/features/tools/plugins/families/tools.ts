import type { Services } from "../../../../context/ctx.ts";
import type { Plugin, PluginContext, PluginFile, PluginTool } from "../../../../core/plugins/plugin.ts";
import { pluginToolName } from "../../../../core/plugins/plugins.ts";
import type { JsonObject, Tool, ToolContext } from "../../../../turn/types.ts";
import { linkPluginFile, savePluginFile } from "../../../files/index.ts";
import { argumentCheck } from "../arguments.ts";
import { familiesOf } from "./of-organization.ts";
import { requestFor } from "./request.ts";
import { jsonResult } from "./result.ts";

/** The fields of an agent that a plugin's tools need. */
interface FamilyAgent {
  id: string;
  organizationId: string;
  slug: string;
  name: string;
  timezone: string;
  secrets: ReadonlyMap<string, string>;
}

/** The tools of plugins with one of the `named` tools, as an agent's turns call them. */
export async function familyTools(
  services: Services,
  agent: FamilyAgent,
  named: ReadonlySet<string>,
): Promise<readonly Tool[]> {
  const isNamed = ({ namespace, tools }: Plugin) =>
    tools.some(({ name }) => named.has(pluginToolName(namespace, name)));
  const families = await familiesOf(services.database.db, services.plugins.filter(isNamed), agent.organizationId);
  return families.flatMap((family) => family.tools.map((tool) => familyTool(services, agent, family, tool)));
}

function familyTool(services: Services, agent: FamilyAgent, family: Plugin, tool: PluginTool): Tool {
  return {
    name: pluginToolName(family.namespace, tool.name),
    description: tool.description,
    inputSchema: tool.parameters,
    effect: tool.effect,
    // A plugin gets its declared secrets through its context, so no secret of the agent is sent in arguments.
    seesSecrets: false,
    needsApproval: false,
    validate: argumentCheck(tool.parameters),
    async execute(args, context) {
      requireSecrets(family, agent);
      // A copy, so that the plugin can't change the arguments in the stored transcript.
      const copy = structuredClone(args) as JsonObject;
      return jsonResult(await answerOf(tool, copy, handsOf(services, agent, family, context)));
    },
  };
}

/** Throws for a missing required secret, with advice to store it. */
function requireSecrets({ title, secrets }: Plugin, agent: FamilyAgent): void {
  const missing = secrets.filter(({ key, optional }) => !optional && !agent.secrets.has(key)).map(({ key }) => key);
  if (missing.length === 0) return;
  throw new Error(
    `${title} can't be used yet: somebody has to store the agent's ${missing.length === 1 ? "secret" : "secrets"} ${missing.join(", ")} first (PUT /api/instances/${agent.slug}/secrets)`,
  );
}

async function answerOf(tool: PluginTool, args: JsonObject, context: PluginContext): Promise<unknown> {
  try {
    return await tool.execute(args, context);
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

/** The message of whatever a plugin throws. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error ? error.message : error;
  return typeof said === "string" && said.trim() !== "" ? said : "The tool failed without saying why";
}

/** Checks the fields of a file, since a plugin may be written without types. */
function readFile({ name, mime, bytes }: PluginFile): PluginFile {
  if (typeof name === "string" && typeof mime === "string" && bytes instanceof Uint8Array) return { name, mime, bytes };
  throw new Error("The plugin gave saveFile no name, mime and bytes: that is a defect of the plugin");
}

/** The context of one call, with the plugin's declared secrets. */
function handsOf(services: Services, agent: FamilyAgent, family: Plugin, { signal, conversation }: ToolContext) {
  const { slug, name, timezone } = agent;
  const declared = family.secrets.flatMap(({ key }) => {
    const value = agent.secrets.get(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const conversationId = conversation?.id ?? null;
  return {
    signal,
    secrets: Object.freeze(Object.fromEntries(declared)),
    agent: { slug, name, timezone },
    conversationId: conversation?.ref ?? null,
    now: () => services.clock.now(),
    request: (request) => requestFor(services, family, request, { owner: agent.organizationId, signal }),
    saveFile: async (file) => {
      signal.throwIfAborted();
      return savePluginFile(services, { agent, conversationId, file: readFile(file) });
    },
    linkFile: async (id) => {
      signal.throwIfAborted();
      return linkPluginFile(services, { agent, conversationId, id });
    },
  } satisfies PluginContext;
}
