import type { WorkspaceProviders } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { DialogButton } from "../../ui/dialog/buttons.tsx";
import { type DialogProps, type FieldTable, FormDialog, type Row } from "../../ui/form/form.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { tell } from "../../ui/toast.tsx";
import { type ConnectionProvider, connectionProviders, labelOfProvider } from "../agents/providers.ts";

interface Props {
  path: { orgSlug: string; workspaceId: string };
  /** The workspace's name. */
  name: string;
}

/** The providers that a workspace admits, with the dialog that changes them. */
export function Admission({ path, name }: Props) {
  const read = useLoaded(() => api.getWorkspaceProviders(path), [path.workspaceId]);
  return (
    <WhenLoaded of={read} lines={1}>
      {(admission) => (
        <div class="actions">
          <span class="soft">{textOf(admission)}</span>
          <Allowed to="workspace.assignment:manage">
            <DialogButton
              small
              dialog={(onClose) => <AdmissionDialog {...{ path, name, admission, onClose }} onSaved={read.reload} />}
            >
              Limit providers
            </DialogButton>
          </Allowed>
        </div>
      )}
    </WhenLoaded>
  );
}

function textOf({ admitted, privateConnections }: WorkspaceProviders): string {
  const names = admitted?.map(({ provider, models }) => {
    const label = labelOfProvider(provider);
    return models === null ? label : `${label} (${models.join(", ") || "no model"})`;
  });
  const providers = names ? names.join(", ") || "none" : "all";
  return `Providers: ${providers}${privateConnections ? "" : "; no private connections"}.`;
}

/** The built-in model is always admitted. */
const limited = connectionProviders.map(({ value }) => value).filter((provider) => provider !== "demo");

interface Offer {
  admitted: boolean;
  /** None: all. */
  models: readonly string[];
}

type Values = Record<ConnectionProvider, Offer> & Pick<WorkspaceProviders, "privateConnections"> & { all: boolean };

function AdmissionDialog({
  path,
  name,
  admission,
  ...dialog
}: Props & DialogProps & { admission: WorkspaceProviders }) {
  const form = useForm<Values>(null, valuesOf(admission), async () => {
    await api.setWorkspaceProviders({ ...path, body: bodyOf(form.values) });
    tell(`${name} is changed from the next turns on`);
  });
  const chosen = limited.filter((provider) => form.values[provider].admitted);
  const fields: FieldTable<Values> = [
    {
      name: "all",
      label: "Every provider",
      hint: "Off: only the ones below. An agent that is bound to another one does not answer.",
      kind: "switch",
    },
    ...(form.values.all ? [] : limited).map((provider): Row<Values> => {
      const { admitted } = form.values[provider];
      return [
        { name: `${provider}.admitted`, label: labelOfProvider(provider), kind: "switch" },
        {
          name: `${provider}.models`,
          path: `admitted.${chosen.indexOf(provider)}.models`,
          label: `Models of ${labelOfProvider(provider)}`,
          kind: "list",
          optional: true,
          hint: "With commas between them; empty: all.",
          shown: admitted,
        },
      ];
    }),
    {
      name: "privateConnections",
      label: "Private connections",
      hint: "Whether its agents may use connections and keys of their own.",
      kind: "switch",
    },
  ];
  return <FormDialog wide title={`Providers of ${name}`} action="Save" form={form} fields={fields} {...dialog} />;
}

function valuesOf({ admitted, privateConnections }: WorkspaceProviders): Values {
  const offers = connectionProviders.map(({ value }) => {
    const found = admitted?.find(({ provider }) => provider === value);
    // A provider without a model is not admitted.
    return [value, { admitted: found !== undefined && found.models?.length !== 0, models: found?.models ?? [] }];
  });
  return {
    all: admitted === null,
    privateConnections,
    ...(Object.fromEntries(offers) as Record<ConnectionProvider, Offer>),
  };
}

function bodyOf({ all, privateConnections, ...offers }: Values): WorkspaceProviders {
  const admitted = limited
    .filter((provider) => offers[provider].admitted)
    .map((provider) => {
      const { models } = offers[provider];
      return { provider, models: models.length === 0 ? null : [...models] };
    });
  return { admitted: all ? null : admitted, privateConnections };
}
