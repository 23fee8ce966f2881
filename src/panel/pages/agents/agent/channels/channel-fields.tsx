import { useSignal } from "@preact/signals";
import type { ChannelChanges } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api, problemsOf, serverUrl } from "../../../../data/api.ts";
import { Changeable } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Choice, TextField } from "../../../../ui/form/field.tsx";
import { Form } from "../../../../ui/form/form.tsx";
import { SecretField } from "../../../../ui/form/secret-field.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import type { ConfigField, Messenger, MessengerType, Values } from "./messengers.tsx";

interface Props {
  path: { slug: string; type: MessengerType };
  /** The agent's name. */
  name: string;
  messenger: Messenger;
  stored: Values;
  onSaved: () => void;
}

const modes = [
  { value: "auth_token", label: "Auth token of the account" },
  { value: "api_key", label: "API key" },
];

/** The settings of a messenger. A secret is sent only where somebody typed one, and no draft of it is kept. */
export function ChannelFields({ path, name, messenger, stored, onSaved }: Props) {
  const { type, transports, fields } = messenger;
  const typed = useSignal<Values>({});
  const values: Values = { ...stored, ...typed.value };
  const set = (name: string, text: string) => {
    typed.value = { ...typed.value, [name]: text };
  };
  const save = useAction(async () => {
    const { transport, ...config } = typed.value;
    const chosen = transport === undefined ? config : { ...config, transport: transport || null };
    await api.putAgentChannel({
      ...path,
      body: { enabled: true, config: chosen as ChannelChanges["config"] & object },
    });
    typed.value = {};
    tell("Saved, and on");
    onSaved();
  });
  const problems = problemsOf(save.error);
  const problem = (name: string) => problems.get(`config.${name}`) ?? problems.get(name);
  return (
    <Changeable to="agent.channel:write">
      <Steps messenger={messenger} slug={path.slug} name={name} values={values} />
      <Form onSubmit={() => void save.run()}>
        <div class="columns">
          {transports.length > 0 && (
            <Choice
              label="How messages come"
              value={values.transport ?? ""}
              problem={problem("transport")}
              choices={transports}
              onValue={(transport) => set("transport", transport)}
            />
          )}
          {type === "whatsapp" && (
            <Choice
              label="Credentials"
              value={values.mode ?? "auth_token"}
              problem={problem("mode")}
              choices={modes}
              onValue={(mode) => set("mode", mode)}
            />
          )}
          {fields
            .filter(({ shown }) => shown === undefined || shown(values))
            .map((field) => (
              <ConfigInput
                key={field.name}
                field={field}
                stored={stored[field.name]}
                typed={typed.value[field.name]}
                problem={problem(field.name)}
                onValue={(text) => set(field.name, text)}
              />
            ))}
        </div>
        <Failure error={save.error} />
        <div class="actions">
          <Button look="primary" type="submit" busy={save.busy}>
            Save and turn on
          </Button>
        </div>
      </Form>
    </Changeable>
  );
}

interface InputProps {
  field: ConfigField;
  /** Of a secret, a mask; undefined: nothing is stored. */
  stored: string | undefined;
  typed: string | undefined;
  problem: string | undefined;
  onValue: (text: string) => void;
}

function ConfigInput({ field, stored, typed, problem, onValue }: InputProps) {
  const { label, secret, optional = false, hint, placeholder = "" } = field;
  const about = { label, optional, problem, onValue };
  if (!secret)
    return <TextField {...about} {...{ hint, placeholder }} spellcheck={false} value={typed ?? stored ?? ""} />;
  return (
    <SecretField
      {...about}
      placeholder={stored ?? placeholder}
      hint={stored === undefined ? hint : "A value is stored. Leave it empty to keep it."}
      value={typed ?? ""}
    />
  );
}

interface StepsProps {
  messenger: Messenger;
  slug: string;
  name: string;
  values: Values;
}

/** What is done at the messenger, in its order. Where nothing is chosen, messengers can call an address of https alone. */
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
