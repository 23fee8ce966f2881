import type { ChannelChanges } from "../../../../../client/index.ts";
import { api, serverUrl } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import { Changeable } from "../../../../ui/allowed.tsx";
import { type FieldOf, SendForm } from "../../../../ui/form/form.tsx";
import { tell } from "../../../../ui/toast.tsx";
import type { Messenger, MessengerType, Values } from "./messengers.tsx";

interface Props {
  path: { slug: string; type: MessengerType };
  /** The agent's name. */
  name: string;
  messenger: Messenger;
  /** The stored settings; secrets are masked. */
  stored: Values;
  onSaved: () => void;
}

/** The settings of a messenger. A secret is sent only when typed, and never stored as a draft. */
export function ChannelFields({ path, name, messenger, stored, onSaved }: Props) {
  const blank = { transport: "", mode: "auth_token" };
  const secrets = messenger.fields(stored).filter(({ kind }) => kind === "secret");
  const unsent = Object.fromEntries(secrets.map((field) => [field.name, ""]));
  const form = useForm<Values>(null, { ...blank, ...stored, ...unsent }, async ({ transport, ...config }) => {
    const chosen = transport === undefined ? config : { ...config, transport: transport || null };
    await api.putAgentChannel({
      ...path,
      body: { enabled: true, config: chosen as ChannelChanges["config"] & object },
    });
    tell("Saved, and on");
    onSaved();
  });
  const asStored = (field: FieldOf<Values>): FieldOf<Values> => {
    const own = { ...field, path: `config.${field.name}` };
    const mask = stored[field.name];
    if (own.kind !== "secret" || mask === undefined) return own;
    return { ...own, placeholder: mask, hint: "A value is stored. Leave it empty to keep it." };
  };
  const { transports } = messenger;
  const fields: FieldOf<Values>[] = [
    {
      name: "transport",
      label: "How messages come",
      kind: "choice",
      choices: transports,
      shown: transports.length > 0,
    },
    ...messenger.fields(form.values),
  ];
  return (
    <Changeable to="agent.channel:write">
      <Steps messenger={messenger} slug={path.slug} name={name} values={form.values} />
      <SendForm form={form} fields={[fields.map(asStored)]} action="Save and turn on" />
    </Changeable>
  );
}

interface StepsProps {
  messenger: Messenger;
  slug: string;
  name: string;
  values: Values;
}

/** The steps at the messenger, in order. When no transport is chosen, a webhook is assumed only for an https address. */
function Steps({ messenger, slug, name, values }: StepsProps) {
  const usual = serverUrl.startsWith("https:") ? "webhook" : "socket";
  const slackUrl = messenger.type === "slack" ? `${serverUrl}/webhooks/slack/${slug}` : null;
  const steps = messenger.steps({
    name,
    webhookUrl: values.webhookUrl ?? slackUrl,
    values: { ...values, transport: values.transport || usual },
  });
  return (
    <ol class="steps">
      {steps.map((step, index) => (
        <li key={index}>{step}</li>
      ))}
    </ol>
  );
}
