import { z } from "@hono/zod-openapi";
import { modelNameRule, providerNames } from "../../core/models/providers.ts";
import { agentSlugPattern } from "../../core/text/names.ts";
import { zInt4, zText } from "../../core/text/text.ts";
import { isTimezone } from "../../core/time/calendar.ts";
import { agents } from "../../db/schema.ts";
import { iconProblem, isSlug, namesModel } from "./rules.ts";

const minute = 60_000;
const slugRule = "must be 1 to 128 of a-z, 0-9, _, . and -, and not one of: models, import, ., ..";

const keyword = zText(64)
  .trim()
  .min(1, "must not be empty")
  // Drizzle loses backslashes when the driver passes arrays as text.
  .refine((word) => !word.includes("\\"), "must not contain a backslash");
const keywords = z.array(keyword).max(32, "must have at most 32 entries");
/** A model, alone or after its provider. */
const modelName = z.string().trim().refine(namesModel, `must be ${modelNameRule}; provider:model names both`);
const message = (description: string) => zText(4096).nullable().openapi({ description });
const toggle = (description: string) => z.boolean().openapi({ description });
const status = z.enum(["active", "inactive"]);
const slug = z.string().refine(isSlug, slugRule).openapi({
  description: "Unique in the installation, and fixed once the agent is made.",
  pattern: agentSlugPattern.source,
  example: "support",
});

const money = (description: string) =>
  z
    .int("must be a whole number")
    .min(0, "must be at least 0")
    .nullable()
    .openapi({
      description: `${description} In millionths of the unit of the organization's currency; null: no limit. Set only in the managed edition with the feature \`providers\`, else ignored; a budget that is set stays in force.`,
      example: null,
    });

/** The fields that callers may set, with descriptions. Create, change and read share this list. */
const settable = {
  name: zText(200).trim().min(1, "must not be empty").openapi({ description: "Shown to people.", example: "Support" }),
  description: zText(2000).openapi({ example: "Answers questions about orders." }),
  workspaceId: z.uuid("must be the id of a workspace").openapi({ description: "Who reaches it reaches the agent." }),
  status: status.openapi({ description: "The same as `active`, in words.", example: "active" }),
  active: toggle("An inactive agent answers no one but the playground."),
  provider: z
    .enum(providerNames, `must be one of: ${providerNames.join(", ")}`)
    .nullable()
    .openapi({ description: "Null: the installation's default.", example: "openai" }),
  model: modelName.nullable().openapi({
    description:
      "1 to 200 letters, digits and `. _ : @ / -`, without empty, `.` or `..` parts between slashes. Also accepted as `provider:model`; with `provider` beside it, only that provider's own prefix is read.",
    example: "gpt-5-mini",
  }),
  fastModel: modelName.nullable().openapi({
    description:
      "The model for background work: titles and summaries of conversations, memories, matching of events; `model` or " +
      "`provider:model`. With `null` no model is asked in the background: a title is the beginning of the first message, " +
      "there are no summaries, and nothing is learned but what the tools save.",
  }),
  authEnabled: toggle("Whether chat needs the agent's API key."),
  tracingEnabled: toggle("Send each turn to the tracing backend; the secret `tracing_api_key` names the project."),
  tracingProject: zText(200).nullable().openapi({ description: "The project's exact name in the tracing backend." }),
  memoryEnabled: toggle("Remember facts about end users."),
  knowledgeEnabled: toggle("Search the organization's documents."),
  thinkingEnabled: toggle("Ask the model to reason, where it can."),
  temperature: z
    .number()
    .min(0, "must be at least 0")
    .max(2, "must be at most 2")
    .nullable()
    .openapi({ description: "Null: the provider's.", example: 0.7 }),
  maxOutputTokens: zInt4(1, 1_000_000).nullable().openapi({ description: "Of one model call; null: the provider's." }),
  maxSteps: zInt4(1, 128).openapi({
    description:
      "Model calls in one turn, at most. The last one may call no tools, so that the model answers. One that still asks for tools is called once more, without any; if it says nothing then, the turn has failed.",
    example: 16,
  }),
  historyLimit: zInt4(0, 1000).openapi({ description: "Earlier messages that the model sees.", example: 100 }),
  stateInPromptEnabled: toggle("Show the conversation's state to the model."),
  toolResultsInHistoryEnabled: toggle("Show results of earlier tool calls to the model."),
  debugEnabled: toggle(
    "Keep of each turn how it came to its reply; `GET /api/conversations/{conversationId}/turns/{turnId}` shows it.",
  ),
  attachmentsEnabled: toggle("Store files that come with messages."),
  streamUsageEnabled: toggle("Send a usage chunk to requests with `stream_options.include_usage`."),
  debounceMs: zInt4(0, minute)
    .nullable()
    .openapi({ description: "Wait for more messages of a burst. Null: the policy's." }),
  typingDelayMs: zInt4(0, minute).nullable().openapi({ description: "Before typing is shown. Null: the policy's." }),
  maxRestarts: zInt4(0, 100).nullable().openapi({ description: "Of a turn by newer messages. Null: the policy's." }),
  timezone: zText(64)
    .refine(isTimezone, "must be an IANA time zone, such as Europe/Rome")
    .openapi({ description: "IANA name.", example: "Europe/Rome" }),
  monthlyTokenBudget: z
    .int("must be a whole number")
    .min(0, "must be at least 0")
    .nullable()
    .openapi({ description: "Tokens a calendar month; null: no limit." }),
  userMonthlyTokenBudget: z.int("must be a whole number").min(0, "must be at least 0").nullable().openapi({
    description:
      "Tokens a calendar month of each end user; null: no limit. An end user is the `user` of a request with the agent's key or a messenger's user, else the conversation: who needs no key has a new budget with each new `chat_id`, and needs none without one. `monthlyTokenBudget` limits them too.",
  }),
  monthlyCostBudget: money("What the agent may cost a calendar month, by the prices of its models."),
  userMonthlyCostBudget: money(
    "What each end user may cost a calendar month; end users are those of `userMonthlyTokenBudget`.",
  ),
  optoutEnabled: toggle("Let end users of messengers stop and resume the agent by keyword."),
  optoutStopKeywords: keywords.openapi({ example: ["STOP"] }),
  optoutResumeKeywords: keywords.openapi({ example: ["START"] }),
  optoutClosingMessage: message("Sent to an end user who stops; null: nothing."),
  optoutResumeMessage: message("Sent to an end user who resumes; null: nothing."),
};

interface Activity {
  status?: "active" | "inactive" | undefined;
  active?: boolean | undefined;
}

const agrees = ({ status, active }: Activity) =>
  status === undefined || active === undefined || (status === "active") === active;

const contradiction = { path: ["status"], message: "contradicts active: send one of the two" };

export const AgentChanges = z
  .object(settable)
  .partial()
  .refine(agrees, contradiction)
  .openapi("AgentChanges", { example: { name: "Support", temperature: 0.2 } });
export type AgentChanges = z.infer<typeof AgentChanges>;

export const NewAgent = z
  .object({ ...z.object(settable).partial().shape, slug })
  .refine(agrees, contradiction)
  .openapi("NewAgent", { example: { slug: "support", name: "Support", model: "openai:gpt-5-mini" } });
export type NewAgent = z.infer<typeof NewAgent>;

const {
  workspaceId: _ofInstallation,
  status: _otherName,
  // Amounts of an organization's currency mean nothing elsewhere.
  monthlyCostBudget: _ofOrganization,
  userMonthlyCostBudget: _ofUsers,
  ...configuration
} = settable;
type Configuration = typeof configuration;

/** The default of a field. */
function defaultOf(field: string): unknown {
  return Object.hasOwn(agents, field) ? (agents[field as keyof Configuration].default ?? null) : null;
}

const withDefaults = Object.fromEntries(
  Object.entries(configuration).map(([field, schema]) => [
    field,
    field === "name" ? schema.optional() : (schema as z.ZodType).default(defaultOf(field)),
  ]),
) as { [Field in Exclude<keyof Configuration, "name">]: z.ZodDefault<Configuration[Field]> } & {
  name: z.ZodOptional<Configuration["name"]>;
};

/** An agent's own fields in a bundle: an omitted field has its default. */
export const bundledAgent = {
  slug,
  ...withDefaults,
  icon: z
    .string()
    .superRefine((address, context) => {
      const message = iconProblem(address);
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .nullable()
    .default(null)
    .openapi({ description: "The picture itself: PNG, JPEG or WebP, at most 512 KiB.", example: null }),
};
export type BundledAgent = z.output<z.ZodObject<typeof bundledAgent>>;

/** An agent in its API form (decisions §4), always with all fields. */
export const Instance = z
  .object({
    id: z.uuid(),
    slug: z
      .string()
      .openapi({ description: "The agent's address, and its `model` in the chat API.", example: "support" }),
    ...settable,
    webEnabled: z.boolean().openapi({ description: "Whether the chat routes answer; set on the channel `web`." }),
    failingChannels: z
      .array(
        z.object({
          channelType: z.string().openapi({ example: "telegram" }),
          since: z.iso.datetime().nullable().openapi({ description: "Null: it is not known since when." }),
        }),
      )
      .openapi({
        description: "The channels that are on and whose messenger refuses them: their `lastError` says why.",
        example: [],
      }),
    providerProblem: z.enum(["not-admitted", "disabled", "no-key"]).nullable().openapi({
      description:
        "Why the model that is configured to answer may not, so that calls are 503: its provider connection is disabled or without key, or the workspace does not admit it. Null otherwise, and without the feature `providers` of the managed edition.",
      example: null,
    }),
    revision: z.int().openapi({ description: "Grows with every change; send it as `If-Match`.", example: 3 }),
    icon: z.string().nullable().openapi({ example: "/api/instances/support/icon?v=9f86d081884c7d65" }),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi("Instance");
export type Instance = z.infer<typeof Instance>;

const warnings = z
  .array(z.string())
  .optional()
  .openapi({ description: "What is wrong with its settings though they were accepted; absent for nothing." });

export const InstanceAnswer = z.object({ instance: Instance, warnings }).openapi("InstanceAnswer");
export const InstanceList = z.object({ instances: z.array(Instance) }).openapi("InstanceList");

/** The slug in a path. An invalid slug gets the 404 of an unknown one. */
export const slugParam = z.object({
  slug: z.string().openapi({ description: "The agent's slug.", example: "support" }),
});

/** The header that refuses a change to another revision of the agent. */
export const ifMatchHeader = z.object({
  "if-match": z
    .string()
    .optional()
    .openapi({ description: 'The revision the change is based on, as `"3"`. Any other answers 412.', example: '"3"' }),
});

/** A picture of one pixel. */
const dotIcon =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const IconBody = z
  .object({
    icon: z.string().openapi({ description: "PNG, JPEG or WebP.", example: dotIcon }),
  })
  .openapi("IconBody");

export const IconAnswer = z
  .object({ icon: z.string().openapi({ example: "/api/instances/support/icon?v=9f86d081884c7d65" }) })
  .openapi("IconAnswer");

const Model = z.object({
  id: z.string().openapi({ example: "gpt-5-mini" }),
  tier: z.enum(["fast", "standard", "heavy"]).nullable(),
});

export const ModelCatalogue = z
  .object({
    providers: z
      .record(
        z.string(),
        z.object({
          configured: z.boolean().openapi({ description: "Whether the environment holds what the provider needs." }),
          models: z.array(Model),
        }),
      )
      .openapi({ example: { demo: { configured: true, models: [{ id: "demo", tier: null }] } } }),
    models: z.array(z.string()).openapi({ description: "`provider:model` of each.", example: ["demo:demo"] }),
  })
  .openapi("ModelCatalogue");
export type ModelCatalogue = z.infer<typeof ModelCatalogue>;
