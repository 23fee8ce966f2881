import type { Policies, PolicyChanges } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { choicesOf } from "../../ui/form/choices.ts";
import { type FieldTable, SaveForm } from "../../ui/form/form.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { messengerNumbers } from "../shared-fields.ts";

/** The policies of the installation. */
export function PoliciesPage() {
  const policies = useLoaded(async () => (await api.getPolicies()).policies, []);
  return (
    <Page
      title="Policies"
      lead="For all organizations of this installation. A change is in force on every replica within 30 seconds."
    >
      <WhenLoaded of={policies}>{(stored) => <PolicyForm policies={stored} onChange={policies.reload} />}</WhenLoaded>
    </Page>
  );
}

function PolicyForm({ policies, onChange }: { policies: Policies; onChange: () => Promise<void> }) {
  const form = useForm<Policies>("policies", policies, async (changes) => {
    await api.updatePolicies({ body: asChanges(changes) });
    await onChange();
  });
  return <SaveForm form={form} fields={fields} />;
}

/** Sends an emptied address as null, so that the server's setting applies again. */
function asChanges({ publicAddress, ...others }: Partial<Policies>): PolicyChanges {
  return {
    ...others,
    ...(publicAddress === undefined ? {} : { publicAddress: publicAddress || null }),
  };
}

const fields: FieldTable<Policies> = [
  {
    title: "Models",
    fields: [
      [
        {
          name: "defaultModel",
          label: "Default model",
          optional: true,
          hint: "Of agents that name none, as provider:model. Empty: the first provider with a key decides.",
          autocapitalize: "none",
          spellcheck: false,
          empty: null,
        },
        {
          name: "environmentKeys",
          label: "Keys of the server's environment",
          hint: "Whose agents may use them.",
          kind: "choice",
          choices: choicesOf({
            all: "Agents of all organizations",
            "first-organization": "Agents of the first organization",
            none: "Nobody's",
          }),
        },
      ],
    ],
  },
  {
    title: "Addresses",
    fields: [
      {
        name: "publicAddress",
        label: "Public address",
        type: "url",
        hint: "Where people, programs and messengers reach this installation. Webhooks of channels are made from it.",
      },
      {
        name: "httpAllowedHosts",
        label: "Hosts inside the network that may be reached",
        optional: true,
        hint: "One a line, such as localhost:11434 for Ollama on this machine. Everything else inside the network is out of reach of tools, plugins and providers.",
        kind: "list",
        lines: true,
      },
    ],
  },
  {
    title: "Limits",
    fields: [
      [
        {
          name: "rateLimit.limit",
          label: "Calls of one caller",
          hint: "In each window. Chat completions have a limit of their own.",
          kind: "number",
        },
        { name: "rateLimit.windowSeconds", label: "The window, in seconds", kind: "number" },
        {
          name: "modelTimeoutSeconds",
          label: "A turn, in seconds",
          hint: "How long it may take in all.",
          kind: "number",
        },
        { name: "toolTimeoutSeconds", label: "A tool, in seconds", kind: "number" },
        { name: "agentCallTimeoutSeconds", label: "Asking another agent, in seconds", kind: "number" },
        { name: "roomSlots", label: "Room turns at a time", hint: "On each replica.", kind: "number" },
        {
          name: "activityConnections.total",
          label: "Activity streams",
          hint: "Open at a time, on each replica.",
          kind: "number",
        },
        { name: "activityConnections.perUser", label: "Activity streams of one person", kind: "number" },
        {
          name: "fileMegabytes.total",
          label: "Files of an agent, in MB",
          hint: "On this machine. Files in S3 do not count.",
          kind: "number",
        },
        {
          name: "fileMegabytes.perUser",
          label: "Files of one person or group, in MB",
          hint: "With one agent.",
          kind: "number",
        },
      ],
    ],
  },
  {
    title: "Messengers",
    fields: [
      [
        messengerNumbers.debounceMs,
        messengerNumbers.typingDelayMs,
        {
          ...messengerNumbers.maxRestarts,
          hint: "How often a new message may have the agent begin its answer again.",
        },
      ],
    ],
  },
  {
    title: "Records",
    fields: [
      [
        {
          name: "retentionDays",
          label: "Days that the audit log is kept",
          optional: true,
          hint: "Empty: for good.",
          kind: "number",
        },
        {
          name: "tracingBaseUrl",
          label: "Tracing server",
          optional: true,
          type: "url",
          placeholder: "https://cloud.langfuse.com",
          hint: "The Langfuse server of agents that are traced.",
          empty: null,
        },
      ],
    ],
  },
];
