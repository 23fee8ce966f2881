import type { Policies, PolicyChanges } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { type Form, useForm } from "../../data/form.ts";
import { useLoaded } from "../../data/load.ts";
import { Card } from "../../ui/card.tsx";
import { Choice, TextField } from "../../ui/form/field.tsx";
import { ListField } from "../../ui/form/list-field.tsx";
import { NumberField } from "../../ui/form/number-field.tsx";
import { SaveForm } from "../../ui/form/save-form.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Waiting } from "../../ui/waiting.tsx";

/** What the owner of the installation decides while it runs. */
export function PoliciesPage() {
  const { value, error, reload } = useLoaded(async () => (await api.getPolicies()).policies, []);
  const policies = value.value;
  return (
    <Page
      title="Policies"
      lead="For all organizations of this installation. A change is in force on every replica within 30 seconds."
    >
      <Failure error={error.value} retry={reload} />
      {!policies && error.value === undefined && <Waiting />}
      {policies && <PolicyForm policies={policies} onChange={reload} />}
    </Page>
  );
}

function PolicyForm({ policies, onChange }: { policies: Policies; onChange: () => Promise<void> }) {
  const form = useForm<Policies>("policies", policies, async (changes) => {
    await api.updatePolicies({ body: asChanges(changes) });
    await onChange();
  });
  return (
    <SaveForm form={form}>
      <Models form={form} />
      <Reach form={form} />
      <Limits form={form} />
      <Messages form={form} />
      <Records form={form} />
    </SaveForm>
  );
}

/** An emptied address is the one of the server's settings again. */
function asChanges({ publicAddress, ...others }: Partial<Policies>): PolicyChanges {
  return {
    ...others,
    ...(publicAddress === undefined ? {} : { publicAddress: publicAddress || null }),
  };
}

interface Part {
  form: Form<Policies>;
}

/** The policies that are a number, with what each means. */
type NumberPolicy = { [Key in keyof Policies]: Policies[Key] extends number ? Key : never }[keyof Policies];

function Num({ form, name, label, hint }: Part & { name: NumberPolicy; label: string; hint?: string }) {
  return (
    <NumberField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      value={form.values[name]}
      problem={form.problem(name)}
      onNumber={(value) => form.set({ [name]: value })}
    />
  );
}

const Models = ({ form: { values, set, problem } }: Part) => (
  <Card title="Models">
    <div class="columns">
      <TextField
        label="Default model"
        optional
        hint="Of agents that name none, as provider:model. Empty: the first provider with a key decides."
        autocapitalize="none"
        spellcheck={false}
        value={values.defaultModel ?? ""}
        problem={problem("defaultModel")}
        onValue={(model) => set({ defaultModel: model || null })}
      />
      <Choice
        label="Keys of the server's environment"
        hint="Whose agents may use them."
        value={values.environmentKeys}
        choices={[
          { value: "all", label: "Agents of all organizations" },
          { value: "first-organization", label: "Agents of the first organization" },
          { value: "none", label: "Nobody's" },
        ]}
        onValue={(whose) => set({ environmentKeys: whose as Policies["environmentKeys"] })}
      />
    </div>
  </Card>
);

const Reach = ({ form: { values, set, problem } }: Part) => (
  <Card title="Addresses">
    <TextField
      label="Public address"
      type="url"
      hint="Where people, programs and messengers reach this installation. Webhooks of channels are made from it."
      value={values.publicAddress}
      problem={problem("publicAddress")}
      onValue={(publicAddress) => set({ publicAddress })}
    />
    <ListField
      label="Hosts inside the network that may be reached"
      optional
      hint="One a line, such as localhost:11434 for Ollama on this machine. Everything else inside the network is out of reach of tools, plugins and providers."
      lines
      items={values.httpAllowedHosts}
      problem={problem("httpAllowedHosts")}
      onItems={(httpAllowedHosts) => set({ httpAllowedHosts })}
    />
  </Card>
);

/** One number of a policy that has several. */
function NumIn<Of extends "rateLimit" | "activityConnections" | "fileMegabytes">({
  form,
  of,
  name,
  label,
  hint,
}: Part & { of: Of; name: keyof Policies[Of] & string; label: string; hint?: string }) {
  const numbers = form.values[of];
  return (
    <NumberField
      label={label}
      {...(hint === undefined ? {} : { hint })}
      value={numbers[name] as number}
      problem={form.problem(`${of}.${name}`)}
      onNumber={(value) => form.set({ [of]: { ...numbers, [name]: value } })}
    />
  );
}

const Limits = ({ form }: Part) => (
  <Card title="Limits">
    <div class="columns">
      <NumIn
        form={form}
        of="rateLimit"
        name="limit"
        label="Calls of one caller"
        hint="In each window. Chat completions have a limit of their own."
      />
      <NumIn form={form} of="rateLimit" name="windowSeconds" label="The window, in seconds" />
      <Num form={form} name="modelTimeoutSeconds" label="A turn, in seconds" hint="How long it may take in all." />
      <Num form={form} name="toolTimeoutSeconds" label="A tool, in seconds" />
      <Num form={form} name="agentCallTimeoutSeconds" label="Asking another agent, in seconds" />
      <Num form={form} name="roomSlots" label="Room turns at a time" hint="On each replica." />
      <NumIn
        form={form}
        of="activityConnections"
        name="total"
        label="Activity streams"
        hint="Open at a time, on each replica."
      />
      <NumIn form={form} of="activityConnections" name="perUser" label="Activity streams of one person" />
      <NumIn
        form={form}
        of="fileMegabytes"
        name="total"
        label="Files of an agent, in MB"
        hint="On this machine. Files in S3 do not count."
      />
      <NumIn
        form={form}
        of="fileMegabytes"
        name="perUser"
        label="Files of one person or group, in MB"
        hint="With one agent."
      />
    </div>
  </Card>
);

const Messages = ({ form }: Part) => (
  <Card title="Messengers">
    <div class="columns">
      <Num
        form={form}
        name="debounceMs"
        label="Messages that belong together, in ms"
        hint="Those that come within this time of each other are answered as one."
      />
      <Num form={form} name="typingDelayMs" label="Before the typing sign, in ms" />
      <Num
        form={form}
        name="maxRestarts"
        label="Restarts of a turn"
        hint="How often a new message may have the agent begin its answer again."
      />
    </div>
  </Card>
);

const Records = ({ form: { values, set, problem } }: Part) => (
  <Card title="Records">
    <div class="columns">
      <NumberField
        label="Days that the audit log is kept"
        optional
        hint="Empty: for good."
        value={values.retentionDays}
        problem={problem("retentionDays")}
        onNumber={(retentionDays) => set({ retentionDays })}
      />
      <TextField
        label="Tracing server"
        optional
        type="url"
        placeholder="https://cloud.langfuse.com"
        hint="The Langfuse server of agents that are traced."
        value={values.tracingBaseUrl ?? ""}
        problem={problem("tracingBaseUrl")}
        onValue={(address) => set({ tracingBaseUrl: address || null })}
      />
    </div>
  </Card>
);
