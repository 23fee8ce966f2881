import { useSignal } from "@preact/signals";
import type { AddedMember, Workspace } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { organization, orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { FormDialog } from "../../ui/dialog/form-dialog.tsx";
import { Choice, TextField } from "../../ui/form/field.tsx";
import { Note } from "../../ui/note.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { tellFailure } from "../../ui/toast.tsx";
import { type Role, reachesAll, roles, rolesGivenBy } from "./roles.ts";

interface Wanted {
  email: string;
  name: string;
  roleKey: Role;
  workspaceIds: readonly string[];
}

interface Props {
  workspaces: readonly Workspace[];
  onAdded: () => void;
  onClose: () => void;
}

type Done = { invited: true; email: string } | AddedMember;

/** Adds a person: a new account with a password, or an invitation for somebody who has an account. */
export function AddMember({ workspaces, onAdded, onClose }: Props) {
  const done = useSignal<Done | null>(null);
  const blank: Wanted = {
    ...{ email: "", name: "", roleKey: "member" },
    workspaceIds: workspaces.slice(0, 1).map(({ id }) => id),
  };
  const form = useForm<Wanted>("add-member", blank, async () => {
    const added = await add(form.values);
    // Its password is shown now or never, whatever becomes of the workspaces.
    done.value = added;
    if (!("invited" in added)) await giveWorkspaces(added, form.values).catch(tellFailure);
    onAdded();
  });
  const { values, set, problem } = form;
  if (done.value) return <Added done={done.value} onClose={onClose} />;
  return (
    <FormDialog title="Add a person" action="Add" state={form} onSubmit={() => void form.save()} onClose={onClose}>
      <TextField
        label="E-mail"
        type="email"
        required
        autofocus
        autocomplete="off"
        hint="An e-mail that has an account here is invited; another one gets an account."
        value={values.email}
        problem={problem("email")}
        onValue={(email) => set({ email })}
      />
      <TextField
        label="Name"
        optional
        maxLength={200}
        value={values.name}
        problem={problem("name")}
        onValue={(name) => set({ name })}
      />
      <Choice
        label="Role"
        value={values.roleKey}
        choices={rolesGivenBy(organization.value?.roleKey)}
        hint={roles.find(({ value }) => value === values.roleKey)?.hint}
        onValue={(roleKey) => set({ roleKey: roleKey as Role })}
      />
      {!reachesAll(values.roleKey) && (
        <WorkspaceChoice
          workspaces={workspaces}
          chosen={values.workspaceIds}
          onChosen={(workspaceIds) => set({ workspaceIds })}
        />
      )}
    </FormDialog>
  );
}

async function add({ email, name, roleKey }: Wanted): Promise<Done> {
  const body = { email, roleKey, ...(name.trim() === "" ? {} : { name }) };
  const answer = await api.addMember({ orgSlug: orgSlug.value, body });
  return "invited" in answer ? { ...answer, email } : answer;
}

async function giveWorkspaces({ userId }: AddedMember, { roleKey, workspaceIds }: Wanted): Promise<void> {
  if (reachesAll(roleKey)) return;
  for (const workspaceId of workspaceIds) {
    await api.assignWorkspaceMember({ orgSlug: orgSlug.value, workspaceId, userId });
  }
}

interface WorkspaceChoiceProps {
  workspaces: readonly Workspace[];
  chosen: readonly string[];
  onChosen: (ids: readonly string[]) => void;
}

const WorkspaceChoice = ({ workspaces, chosen, onChosen }: WorkspaceChoiceProps) => (
  <fieldset class="bare form">
    <legend class="label">Workspaces within reach</legend>
    {workspaces.map(({ id, name }) => (
      <label key={id} class="check">
        <input
          type="checkbox"
          checked={chosen.includes(id)}
          onChange={(event) =>
            onChosen(event.currentTarget.checked ? [...chosen, id] : chosen.filter((one) => one !== id))
          }
        />
        <span>{name}</span>
      </label>
    ))}
  </fieldset>
);

const Added = ({ done, onClose }: { done: Done; onClose: () => void }) => (
  <Dialog title={"invited" in done ? "Invited" : `${done.name} is added`} onClose={onClose}>
    {"invited" in done ? (
      <Note look="good">
        {done.email} has an account here. Its holder finds the invitation in the panel and joins by accepting it, within
        14 days. Then give them a workspace.
      </Note>
    ) : (
      done.password !== undefined && (
        <ShownOnce label={`Password of ${done.email}`} text={done.password}>
          Hand it over together with the address of this page; {done.name} chooses another one after signing in.
        </ShownOnce>
      )
    )}
    <div class="actions">
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </Dialog>
);
