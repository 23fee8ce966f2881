import type { Instance } from "../../../../../client/index.ts";
import type { Choices } from "../../../../ui/form/choices.ts";
import type { FieldTable, Row } from "../../../../ui/form/form.tsx";
import { messengerNumbers, zone } from "../../../shared-fields.ts";
import { providers } from "../../providers.ts";
import { moneyField } from "./money-field.tsx";

/** The choices of the fields. */
interface FieldChoices {
  workspaces: Choices;
  /** The models of the chosen provider. */
  models: readonly string[];
  /** The currency of budgets in money; null: they can't be set here. */
  currency: string | null;
}

/** The settings of an agent. */
export const settingsFields = (
  values: Instance,
  { workspaces, models, currency }: FieldChoices,
): FieldTable<Instance> => [
  {
    title: "Who it is",
    fields: [
      [
        { name: "name", label: "Name" },
        { name: "timezone", ...zone },
      ],
      { name: "description", label: "Description", kind: "area", optional: true },
      {
        name: "workspaceId",
        label: "Workspace",
        hint: "Who reaches it reaches the agent.",
        kind: "choice",
        choices: workspaces,
        shown: workspaces.length > 1,
      },
      { name: "active", label: "Active", hint: "An inactive agent answers nobody but the playground.", kind: "switch" },
    ],
  },
  {
    title: "Model",
    fields: [
      [
        {
          name: "provider",
          label: "Provider",
          kind: "choice",
          choices: [{ value: "", label: "The installation's default" }, ...providers],
          empty: null,
          also: () => ({ model: null }),
        },
        {
          name: "model",
          label: "Model",
          optional: true,
          suggestions: models,
          placeholder: "The provider's usual one",
          empty: null,
        },
        {
          name: "fastModel",
          label: "Fast model",
          optional: true,
          suggestions: models,
          hint: "For titles, summaries and memories. Without one nothing runs in the background.",
          empty: null,
        },
      ],
      [
        { name: "temperature", label: "Temperature", kind: "number", optional: true, step: "any" },
        { name: "maxOutputTokens", label: "Longest answer, in tokens", kind: "number", optional: true },
      ],
      { name: "thinkingEnabled", label: "Reasoning", hint: "Has the model think first, where it can.", kind: "switch" },
    ],
  },
  {
    title: "A turn",
    fields: [
      [
        { name: "maxSteps", label: "Model calls in a turn, at most", kind: "number" },
        { name: "historyLimit", label: "Earlier messages that the model sees", kind: "number" },
      ],
      {
        name: "streamUsageEnabled",
        label: "Tell programs that ask how many tokens a streamed reply took",
        kind: "switch",
      },
      { name: "stateInPromptEnabled", label: "Show the conversation's state to the model", kind: "switch" },
      { name: "toolResultsInHistoryEnabled", label: "Show results of earlier tool calls to the model", kind: "switch" },
    ],
  },
  {
    title: "What it keeps",
    fields: [
      {
        name: "memoryEnabled",
        label: "Memory",
        hint: "Remembers facts about end users; needs a fast model to learn by itself.",
        kind: "switch",
      },
      {
        name: "debugEnabled",
        label: "Keep how replies came about",
        hint: "Prompt, memories, tools and times of each turn, for Why this answer.",
        kind: "switch",
      },
      { name: "attachmentsEnabled", label: "Store files that come with messages", kind: "switch" },
    ],
  },
  {
    title: "Budgets",
    lead: "Tokens a calendar month; empty is no limit.",
    fields: [
      [
        { name: "monthlyTokenBudget", label: "Of the agent", kind: "number", optional: true },
        { name: "userMonthlyTokenBudget", label: "Of each end user", kind: "number", optional: true },
      ],
    ],
  },
  currency !== null && {
    title: "Budgets in money",
    lead: `${currency} a calendar month; empty is no limit. Models without a price count nothing.`,
    fields: [
      [
        moneyField("monthlyCostBudget", "Cost of the agent"),
        moneyField("userMonthlyCostBudget", "Cost of each end user"),
      ],
    ],
  },
  {
    title: "On messengers",
    lead: "Empty fields have what the installation's policies say.",
    fields: [
      [
        { ...messengerNumbers.debounceMs, optional: true },
        { ...messengerNumbers.typingDelayMs, optional: true },
        {
          ...messengerNumbers.maxRestarts,
          hint: "How often a new message may have it begin its answer again.",
          optional: true,
        },
      ],
      { name: "optoutEnabled", label: "People can stop and resume it by a word", kind: "switch" },
      optOutFields(values),
    ],
  },
  {
    title: "Tracing",
    lead: "Each turn from the inside, in Langfuse. The secret tracing_api_key holds its keys.",
    fields: [
      { name: "tracingEnabled", label: "Send each turn to the tracing backend", kind: "switch" },
      {
        name: "tracingProject",
        label: "Project",
        optional: true,
        hint: "Its exact name there. Another project's key is warned of.",
        empty: null,
        shown: values.tracingEnabled,
      },
    ],
  },
];

function optOutFields({ optoutEnabled: shown }: Instance): Row<Instance> {
  const words = { kind: "list", hint: "With commas between them.", shown } as const;
  const message = { optional: true, empty: null, shown } as const;
  return [
    { name: "optoutStopKeywords", label: "Words that stop it", ...words },
    { name: "optoutResumeKeywords", label: "Words that resume it", ...words },
    { name: "optoutClosingMessage", label: "Said to who stops it", ...message },
    { name: "optoutResumeMessage", label: "Said to who resumes it", ...message },
  ];
}
