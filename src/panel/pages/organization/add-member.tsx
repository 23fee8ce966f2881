import { useSignal } from "@preact/signals";
import type { AddedMember, Workspace } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { may, orgSlug } from "../../data/session.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Check } from "../../ui/form/check.tsx";
import { type Control, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { Note } from "../../ui/note.tsx";
import { ShownOnce } from "../../ui/text/shown-once.tsx";
import { tellFailure } from "../../ui/toast.tsx";
import { type RoleChoice, reachesAll, rolesGivenBy } from "./role-choices.ts";

interface NewPerson {
  email: string;
  name: string;
  roleKey: string;
  workspaceIds: readonly string[];
}

interface Props {
  workspaces: readonly Workspace[];
  roles: readonly RoleChoice[];
  onAdded: () => void;
  onClose: () => void;
}

type Done = { invited: true; email: string } | AddedMember;

/** Adds a person: a new account with a password, or an invitation for an existing account. */
export function AddMember({ workspaces, roles, onAdded, onClose }: Props) {
  const given = rolesGivenBy(roles, may);
  const done = useSignal<Done | null>(null);
  const blank: NewPerson = {
    email: "",
    name: "",
    roleKey: (given.find(({ value }) => value === "member") ?? given[0])?.value ?? "",
    workspaceIds: workspaces.slice(0, 1).map(({ id }) => id),
  };
  const form = useForm<NewPerson>("add-member", blank, async () => {
    const added = await add(form.values);
    // The password can be shown only now, even if adding the workspaces fails.
    done.value = added;
    if (!("invited" in added)) await giveWorkspaces(added, form.values, roles).catch(tellFailure);
    onAdded();
  });
  if (done.value) return <Added done={done.value} onClose={onClose} />;
  const { roleKey } = form.values;
  const fields: FieldTable<NewPerson> = [
    {
      name: "email",
      label: "E-mail",
      type: "email",
      required: true,
      autofocus: true,
      autocomplete: "off",
      hint: "An e-mail that has an account here is invited; another one gets an account.",
    },
    { name: "name", label: "Name", optional: true, maxLength: 200 },
    {
      name: "roleKey",
      label: "Role",
      hint: roles.find(({ value }) => value === roleKey)?.hint,
      kind: "choice",
      choices: given,
    },
    {
      name: "workspaceIds",
      label: "Workspaces within reach",
      kind: "custom",
      control: (control) => <WorkspaceChoice workspaces={workspaces} {...control} />,
      shown: !reachesAll(roles, roleKey),
    },
  ];
  return <FormDialog title="Add a person" action="Add" form={form} fields={fields} onClose={onClose} />;
}

async function add({ email, name, roleKey }: NewPerson): Promise<Done> {
  const body = { email, roleKey, ...(name.trim() === "" ? {} : { name }) };
  const answer = await api.addMember({ orgSlug: orgSlug.value, body });
  return "invited" in answer ? { ...answer, email } : answer;
}

async function giveWorkspaces(
  { userId }: AddedMember,
  { roleKey, workspaceIds }: NewPerson,
  roles: readonly RoleChoice[],
): Promise<void> {
  if (reachesAll(roles, roleKey)) return;
  for (const workspaceId of workspaceIds) {
    await api.assignWorkspaceMember({ orgSlug: orgSlug.value, workspaceId, userId });
  }
}

type WorkspaceChoiceProps = Control<readonly string[]> & { workspaces: readonly Workspace[] };

const WorkspaceChoice = ({ workspaces, value: chosen, onValue }: WorkspaceChoiceProps) => (
  <fieldset class="bare form">
    <legend class="label">Workspaces within reach</legend>
    {workspaces.map(({ id, name }) => (
      <Check
        key={id}
        checked={chosen.includes(id)}
        onChecked={(checked) => onValue(checked ? [...chosen, id] : chosen.filter((one) => one !== id))}
      >
        {name}
      </Check>
    ))}
  </fieldset>
);

const Added = ({ done, onClose }: { done: Done; onClose: () => void }) => (
  <Dialog title={"invited" in done ? "Invited" : `${done.name} is added`} close="Done" onClose={onClose}>
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
  </Dialog>
);
