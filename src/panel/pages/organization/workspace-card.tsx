import type { Member, Workspace } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { useLoaded } from "../../data/list/load.ts";
import { hasFeature, may, orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Card } from "../../ui/card.tsx";
import { DeleteButton, DialogButton } from "../../ui/dialog/buttons.tsx";
import { StoredCheck } from "../../ui/form/check.tsx";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { Failure } from "../../ui/note.tsx";
import { tell } from "../../ui/toast.tsx";
import { Admission } from "../providers/admission.tsx";
import { type RoleChoice, reachesAll } from "./role-choices.ts";

interface Props {
  workspace: Workspace;
  /** All members of the organization. */
  everybody: readonly Member[];
  roles: readonly RoleChoice[];
  onChange: () => Promise<void>;
}

/** A workspace: its members, renaming, and deletion. */
export function WorkspaceCard({ workspace, everybody, roles, onChange }: Props) {
  const { id, name, agentCount } = workspace;
  const path = { orgSlug: orgSlug.value, workspaceId: id };
  const given = useLoaded(async () => (await api.listWorkspaceMembers(path)).members, [id]);
  const agents = agentCount === 1 ? "1 agent" : `${agentCount} agents`;
  return (
    <Card title={name} lead={agents}>
      <Failure error={given.error.value} retry={given.reload} />
      <Reach path={path} everybody={everybody} roles={roles} given={given.value.value} onChange={given.reload} />
      {hasFeature("providers") && <Admission path={path} name={name} />}
      <Allowed to="org.member:manage">
        <div class="actions">
          <DialogButton
            small
            dialog={(onClose) => (
              <WorkspaceDialog
                title={`Rename ${name}`}
                action="Rename"
                name={name}
                save={(text) => api.renameWorkspace({ ...path, body: { name: text } })}
                onSaved={onChange}
                onClose={onClose}
              />
            )}
          >
            Rename
          </DialogButton>
          <DeleteButton
            small
            name={name}
            kind="workspace"
            onConfirm={() => api.deleteWorkspace(path)}
            onDone={onChange}
          >
            {agentCount === 0
              ? "Nobody reaches it any more. It holds no agent."
              : `It holds ${agents}: move or delete them first.`}
          </DeleteButton>
        </div>
      </Allowed>
    </Card>
  );
}

interface ReachProps extends Pick<Props, "everybody" | "roles"> {
  path: { orgSlug: string; workspaceId: string };
  /** The members with access; undefined until they are read. */
  given: readonly Member[] | undefined;
  onChange: () => Promise<void>;
}

/** The members whose roles do not reach every workspace, each with a box for access to this one. */
function Reach({ path, everybody, roles, given, onChange }: ReachProps) {
  const others = everybody.filter(({ roleKey }) => !reachesAll(roles, roleKey));
  if (others.length === 0) return <p class="soft">There are only Owners and Admins, who reach it anyway.</p>;
  const change = async ({ userId, name }: Member, within: boolean) => {
    if (within) await api.assignWorkspaceMember({ ...path, userId });
    else await api.unassignWorkspaceMember({ ...path, userId });
    tell(within ? `${name} reaches it now` : `${name} does not reach it any more`);
  };
  return (
    <fieldset class="bare form" disabled={!may("org.member:manage") || given === undefined}>
      <legend class="label">Who reaches it, beside Owners and Admins</legend>
      {others.map((member) => (
        <StoredCheck
          key={member.userId}
          stored={given?.some(({ userId }) => userId === member.userId) === true}
          store={(within) => change(member, within).finally(onChange)}
        >
          {member.name} <span class="soft">{member.email}</span>
        </StoredCheck>
      ))}
    </fieldset>
  );
}

interface NameProps extends DialogProps {
  title: string;
  action: string;
  name: string;
  save: (name: string) => Promise<unknown>;
}

/** Asks for the name of a workspace. */
export function WorkspaceDialog({ name, save, ...dialog }: NameProps) {
  const form = useForm(null, { name }, async () => void (await save(form.values.name)));
  const fields: FieldTable<{ name: string }> = [
    { name: "name", label: "Name", required: true, autofocus: true, maxLength: 200 },
  ];
  return <FormDialog {...dialog} form={form} fields={fields} />;
}
