import { useSignal } from "@preact/signals";
import type { Member, Workspace } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useChoice } from "../../data/choice.ts";
import { useLoaded } from "../../data/load.ts";
import { may, orgSlug } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { Failure } from "../../ui/note.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { reachesAll } from "./roles.ts";
import { WorkspaceNameDialog } from "./workspace-name.tsx";

interface Props {
  workspace: Workspace;
  /** The members of the organization. */
  everybody: readonly Member[];
  onChange: () => Promise<void>;
}

/** A workspace: who reaches it, its name, its end. */
export function WorkspaceCard({ workspace, everybody, onChange }: Props) {
  const { id, name, agentCount } = workspace;
  const path = { orgSlug: orgSlug.value, workspaceId: id };
  const given = useLoaded(async () => (await api.listWorkspaceMembers(path)).members, [id]);
  const renames = useSignal(false);
  const remove = async () => {
    await api.deleteWorkspace(path);
    tell(`${name} is deleted`);
    await onChange();
  };
  const agents = agentCount === 1 ? "1 agent" : `${agentCount} agents`;
  return (
    <Card title={name} lead={agents}>
      <Failure error={given.error.value} retry={given.reload} />
      <Reach path={path} everybody={everybody} given={given.value.value} onChange={given.reload} />
      <Allowed to="org.member:manage">
        <div class="actions">
          <Button
            small
            onClick={() => {
              renames.value = true;
            }}
          >
            Rename
          </Button>
          <ConfirmButton
            small
            label="Delete"
            title={`Delete ${name}?`}
            action="Delete the workspace"
            onConfirm={remove}
          >
            {agentCount === 0
              ? "Nobody reaches it any more. It holds no agent."
              : `It holds ${agents}: move or delete them first.`}
          </ConfirmButton>
        </div>
      </Allowed>
      {renames.value && (
        <WorkspaceNameDialog
          title={`Rename ${name}`}
          action="Rename"
          name={name}
          save={async (text) => {
            await api.renameWorkspace({ ...path, body: { name: text } });
            await onChange();
          }}
          onClose={() => {
            renames.value = false;
          }}
        />
      )}
    </Card>
  );
}

interface ReachProps {
  path: { orgSlug: string; workspaceId: string };
  everybody: readonly Member[];
  /** Undefined: not known yet. */
  given: readonly Member[] | undefined;
  onChange: () => Promise<void>;
}

/** The members and viewers, each with whether the workspace is within reach. */
function Reach({ path, everybody, given, onChange }: ReachProps) {
  const others = everybody.filter(({ roleKey }) => !reachesAll(roleKey));
  if (others.length === 0) return <p class="soft">There are only Owners and Admins, who reach it anyway.</p>;
  return (
    <fieldset class="bare form" disabled={!may("org.member:manage") || given === undefined}>
      <legend class="label">Who reaches it, beside Owners and Admins</legend>
      {others.map((member) => (
        <Reacher
          key={member.userId}
          path={path}
          member={member}
          within={given?.some(({ userId }) => userId === member.userId) === true}
          onChange={onChange}
        />
      ))}
    </fieldset>
  );
}

interface ReacherProps extends Pick<ReachProps, "path" | "onChange"> {
  member: Member;
  within: boolean;
}

function Reacher({ path, member: { userId, name, email }, within, onChange }: ReacherProps) {
  const change = async (reaches: boolean) => {
    if (reaches) await api.assignWorkspaceMember({ ...path, userId });
    else await api.unassignWorkspaceMember({ ...path, userId });
    tell(reaches ? `${name} reaches it now` : `${name} does not reach it any more`);
  };
  const { chosen, choose } = useChoice(within, (reaches) => change(reaches).finally(onChange));
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={chosen}
        onChange={(event) => void choose(event.currentTarget.checked).catch(tellFailure)}
      />
      <span>
        {name} <span class="soft">{email}</span>
      </span>
    </label>
  );
}
