import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { may, orgSlug } from "../../../../data/session.ts";
import { Card } from "../../../../ui/card.tsx";
import { Choice, Switch, TextArea, TextField } from "../../../../ui/form/field.tsx";
import { ZoneField } from "../zone-field.tsx";
import type { PartProps } from "./part-props.ts";

/** Who the agent is, and where it belongs. */
export function Identity({ form: { values, set, problem } }: PartProps) {
  const slug = orgSlug.value;
  const known = useLoaded(
    async () => (may("org:read") ? (await api.listWorkspaces({ orgSlug: slug })).workspaces : []),
    [slug],
  );
  const workspaces = known.value.value ?? [];
  return (
    <Card title="Who it is">
      <div class="columns">
        <TextField label="Name" value={values.name} problem={problem("name")} onValue={(name) => set({ name })} />
        <ZoneField value={values.timezone} problem={problem("timezone")} onValue={(timezone) => set({ timezone })} />
      </div>
      <TextArea
        label="Description"
        optional
        value={values.description}
        problem={problem("description")}
        onValue={(description) => set({ description })}
      />
      {workspaces.length > 1 && (
        <Choice
          label="Workspace"
          hint="Who reaches it reaches the agent."
          value={values.workspaceId}
          problem={problem("workspaceId")}
          choices={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          onValue={(workspaceId) => set({ workspaceId })}
        />
      )}
      <Switch
        label="Active"
        hint="An inactive agent answers nobody but the playground."
        checked={values.active}
        onChecked={(active) => set({ active })}
      />
    </Card>
  );
}
