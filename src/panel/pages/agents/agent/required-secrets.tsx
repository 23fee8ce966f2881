import type { AgentTool, RequiredAgentSecret } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useForm } from "../../../data/form/form.ts";
import { useLoaded } from "../../../data/list/load.ts";
import { Changeable } from "../../../ui/allowed.tsx";
import { Card } from "../../../ui/card.tsx";
import { type FieldOf, SendForm } from "../../../ui/form/form.tsx";
import { Failure } from "../../../ui/note.tsx";
import { tell } from "../../../ui/toast.tsx";

/** The names of the missing secrets that tools need, each once. */
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
  /** Reads the tools, and the secrets that they need, again. */
  onStored: () => Promise<void>;
}

type Values = Readonly<Record<string, string>>;

/** The secrets that the enabled tools need. A value is sent to the server, and never comes back. */
export function RequiredSecrets({ slug, tools, onStored }: Props) {
  const { value, error, reload } = useLoaded(
    async () => (await api.listRequiredSecrets({ slug })).requiredSecrets,
    [slug, tools],
  );
  const secrets = value.value ?? [];
  const empty: Values = Object.fromEntries(secrets.map(({ key }) => [key, ""]));
  const form = useForm<Values>(null, empty, async (given) => {
    const body = { secrets: Object.entries(given).map(([key, text = ""]) => ({ key, value: text })) };
    await api.putAgentSecrets({ slug, body });
    tell("Stored");
    await onStored();
  });
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
        <SendForm form={form} fields={secrets.map(fieldOf)} action="Store" disabled={!form.dirty} />
      </Changeable>
    </Card>
  );
}

function fieldOf(secret: RequiredAgentSecret): FieldOf<Values> {
  const { key, type, label = key, description, choices = [], configured, optional = false, sensitive } = secret;
  const about = {
    name: key,
    label,
    optional,
    hint: [description, configured ? "It is stored." : ""].filter(Boolean).join(" "),
  };
  if (type !== "select")
    return { ...about, kind: sensitive ? "secret" : "text", placeholder: configured ? "••••" : "" };
  const first = { value: "", label: configured ? "As stored" : "Choose one" };
  return { ...about, kind: "choice", choices: [first, ...choices.map((value) => ({ value, label: value }))] };
}
