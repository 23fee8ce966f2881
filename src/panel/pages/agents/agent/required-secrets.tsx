import { useSignal } from "@preact/signals";
import type { AgentTool, RequiredAgentSecret } from "../../../../client/index.ts";
import { useAction } from "../../../data/action.ts";
import { api } from "../../../data/api.ts";
import { useLoaded } from "../../../data/load.ts";
import { Changeable } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { Choice, TextField } from "../../../ui/form/field.tsx";
import { Form } from "../../../ui/form/form.tsx";
import { SecretField } from "../../../ui/form/secret-field.tsx";
import { Failure } from "../../../ui/note.tsx";
import { tell } from "../../../ui/toast.tsx";

/** The names of the secrets that keep tools from working, each once. */
export const missingLabels = (tools: readonly AgentTool[]): string[] => [
  ...new Set(
    tools.flatMap(({ requiredSecrets, missingSecrets }) =>
      missingSecrets.map((key) => requiredSecrets.find((secret) => secret.key === key)?.label ?? key),
    ),
  ),
];

interface Props {
  slug: string;
  tools: readonly AgentTool[];
  /** Reads the tools again, and with them what they need. */
  onStored: () => Promise<void>;
}

/** What the enabled tools need to work. A value is sent to the server, and never comes back. */
export function RequiredSecrets({ slug, tools, onStored }: Props) {
  const { value, error, reload } = useLoaded(
    async () => (await api.listRequiredSecrets({ slug })).requiredSecrets,
    [slug, tools],
  );
  const written = useSignal<Readonly<Record<string, string>>>({});
  const given = Object.entries(written.value).filter(([, text]) => text !== "");
  const save = useAction(async () => {
    const body = { secrets: given.map(([key, text]) => ({ key, value: text })) };
    await api.putAgentSecrets({ slug, body });
    written.value = {};
    tell("Stored");
    await onStored();
  });
  const secrets = value.value ?? [];
  if (secrets.length === 0) return <Failure error={error.value} retry={reload} />;
  const missing = secrets.filter(({ configured, optional }) => !configured && !optional);
  return (
    <Card
      title="What the tools need"
      lead={
        missing.length === 0
          ? "All there. A new value takes the place of the stored one."
          : `Missing: ${missing.map(({ label, key }) => label ?? key).join(", ")}. Until then these tools tell the model that they can't be used.`
      }
    >
      <Changeable to="agent.secret:write">
        <Form onSubmit={() => void save.run()}>
          {secrets.map((secret) => (
            <NeededField
              key={secret.key}
              secret={secret}
              text={written.value[secret.key] ?? ""}
              onText={(text) => {
                written.value = { ...written.value, [secret.key]: text };
              }}
            />
          ))}
          <Failure error={save.error} />
          <div class="actions">
            <Button look="primary" type="submit" busy={save.busy} disabled={given.length === 0}>
              Store
            </Button>
          </div>
        </Form>
      </Changeable>
    </Card>
  );
}

interface FieldProps {
  secret: RequiredAgentSecret;
  text: string;
  onText: (text: string) => void;
}

function NeededField({
  secret: { key, type, label, description, choices, configured, optional, sensitive },
  text,
  onText,
}: FieldProps) {
  const about = {
    label: label ?? key,
    hint: [description, configured ? "It is stored." : ""].filter(Boolean).join(" "),
    optional: optional === true,
  };
  if (type === "select") {
    const all = [{ value: "", label: configured ? "As stored" : "Choose one" }, ...(choices ?? []).map(asChoice)];
    return <Choice {...about} value={text} choices={all} onValue={onText} />;
  }
  const Input = sensitive ? SecretField : TextField;
  return <Input {...about} placeholder={configured ? "••••" : ""} value={text} onValue={onText} />;
}

const asChoice = (value: string) => ({ value, label: value });
