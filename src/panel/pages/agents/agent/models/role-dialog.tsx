import type { ProviderRole, RoleBinding } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import type { Choices } from "../../../../ui/form/choices.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../../../ui/form/form.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { reasonTexts, roleTexts } from "../../../providers/words.tsx";
import { labelOfProvider } from "../../providers.ts";
import { FallbackChoice, modelsOf } from "./fallback-choice.tsx";

type Values = Required<RoleBinding>;

interface Props extends DialogProps {
  slug: string;
  role: ProviderRole;
}

/** Binds a role of an agent to a connection, with fallbacks, or unbinds it. */
export function RoleDialog({ slug, role, ...dialog }: Props) {
  const { title } = roleTexts[role.role];
  const form = useForm<Values>(null, boundBy(role), async () => {
    await api.bindProviderRole({ slug, role: role.role, body: form.values });
    tell(`${title} is changed from the next turn on`);
  });
  return <FormDialog wide title={title} action="Save" form={form} fields={fieldsOf(form.values, role)} {...dialog} />;
}

/** The binding of a role. Models that the engine chose by itself are not the agent's. */
function boundBy({ source, connection, model, fallbacks }: ProviderRole): Values {
  if (source !== "bound" || !connection) return { connectionId: null, model: null, fallbacks: [] };
  return { connectionId: connection.id, model, fallbacks };
}

/** Roles without a usual model of a provider. */
const named: readonly ProviderRole["role"][] = ["transcription", "speech"];

function fieldsOf({ connectionId }: Values, role: ProviderRole): FieldTable<Values> {
  const choices = choicesFor(role);
  const shown = connectionId !== null;
  const mustName = named.includes(role.role);
  return [
    [
      {
        name: "connectionId",
        label: "Connection",
        kind: "choice",
        choices: [{ value: "", label: "None" }, ...choices],
        empty: null,
        hint: choices.length === 0 ? "There is no connection for this role yet." : undefined,
        also: () => ({ model: null }),
      },
      {
        name: "model",
        label: "Model",
        suggestions: modelsOf(role, connectionId),
        placeholder: mustName ? "" : "The usual one",
        optional: !mustName,
        required: mustName,
        empty: null,
        autocapitalize: "none",
        spellcheck: false,
        shown,
      },
    ],
    {
      name: "fallbacks",
      label: "Fallbacks",
      kind: "custom",
      control: (control) => <FallbackChoice role={role} first={connectionId} choices={choices} {...control} />,
      shown,
    },
  ];
}

/** The connections of a role, and the bound one even where it is no option any more. */
function choicesFor({ options, source, connection, reason }: ProviderRole): Choices {
  const choices = options.map(({ connectionId: value, name, provider, shared }) => {
    const label = labelOfProvider(provider);
    return { value, label: [name, ...(label === name ? [] : [label]), ...(shared ? [] : ["private"])].join(" · ") };
  });
  if (source !== "bound" || !connection || choices.some(({ value }) => value === connection.id)) return choices;
  const label = `${connection.name} · ${reason ? reasonTexts[reason] : "not usable"}`;
  return [...choices, { value: connection.id, label }];
}
