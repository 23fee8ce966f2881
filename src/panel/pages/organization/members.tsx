import { useSignal } from "@preact/signals";
import type { Member, Workspace } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useChoice } from "../../data/form/choice.ts";
import { useLoaded } from "../../data/list/load.ts";
import { may, orgSlug, user } from "../../data/session.ts";
import { Allowed } from "../../ui/allowed.tsx";
import { DialogButton } from "../../ui/dialog/buttons.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Select } from "../../ui/form/field.tsx";
import { Table } from "../../ui/list/table.tsx";
import { WhenLoaded } from "../../ui/list/when-loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";
import { AddMember } from "./add-member.tsx";
import { MemberActions } from "./member-actions.tsx";
import { labelOf, type RoleChoice, reachesAll, rolesGivenBy } from "./role-choices.ts";
import { SentInvitations } from "./sent-invitations.tsx";
import { readRoles } from "./stored-roles.ts";

/** The members and their workspaces. */
interface People {
  members: readonly Member[];
  workspaces: readonly Workspace[];
  roles: readonly RoleChoice[];
  /** The names of the workspaces that each member reaches, by the member's id. */
  reach: ReadonlyMap<string, readonly string[]>;
}

async function readPeople(slug: string): Promise<People> {
  const [{ members }, { workspaces }, roles] = await Promise.all([
    api.listMembers({ orgSlug: slug }),
    api.listWorkspaces({ orgSlug: slug }),
    readRoles(slug),
  ]);
  const reach = new Map<string, string[]>();
  const entries = workspaces.map(async ({ id, name }) => {
    const given = await api.listWorkspaceMembers({ orgSlug: slug, workspaceId: id });
    for (const { userId } of given.members) reach.set(userId, [...(reach.get(userId) ?? []), name]);
  });
  await Promise.all(entries);
  return { members, workspaces, roles, reach };
}

/** The members of the organization, their roles, and the invitations. */
export function MembersPage() {
  const slug = orgSlug.value;
  const people = useLoaded(() => readPeople(slug), [slug]);
  const invited = useSignal(0);
  const known = people.value.value;
  const onAdded = async () => {
    invited.value += 1;
    await people.reload();
  };
  return (
    <Page
      title="Members"
      lead="Who belongs to this organization, and what they may do."
      actions={
        <Allowed to="org.member:manage">
          <DialogButton
            look="primary"
            dialog={(onClose) => (known ? <AddMember {...known} onAdded={onAdded} onClose={onClose} /> : null)}
          >
            Add a person
          </DialogButton>
        </Allowed>
      }
    >
      <WhenLoaded of={people}>{(read) => <MemberTable {...read} onChange={people.reload} />}</WhenLoaded>
      <Allowed to="org.member:manage">
        <SentInvitations key={invited.value} />
      </Allowed>
      {known && <RoleHints roles={known.roles} />}
    </Page>
  );
}

function MemberTable({ members, roles, reach, onChange }: People & { onChange: () => Promise<void> }) {
  const reachOf = ({ userId, roleKey }: Member) =>
    reachesAll(roles, roleKey) ? "all" : (reach.get(userId)?.join(", ") ?? "none yet");
  return (
    <Table
      label="Members"
      rows={members}
      keyOf={({ userId }) => userId}
      about={({ email, passwordPending }) => (
        <>
          {email}
          {passwordPending && <span class="badge warn">has not chosen a password yet</span>}
        </>
      )}
      columns={[
        { title: "Person", cell: ({ name, userId }) => (userId === user.value?.id ? `${name} (you)` : name) },
        { title: "Role", cell: (member) => <RoleOf member={member} roles={roles} onChange={onChange} /> },
        { title: "Workspaces", cell: reachOf },
      ]}
      {...(may("org.member:manage") && {
        actions: (member: Member) =>
          // The account page has the actions of the signed-in person.
          member.userId !== user.value?.id && <MemberActions member={member} onChange={onChange} />,
      })}
    />
  );
}

interface RoleProps extends Pick<People, "roles"> {
  member: Member;
  onChange: () => Promise<void>;
}

function RoleOf({ member, roles, onChange }: RoleProps) {
  const { userId, name, roleKey } = member;
  const change = async (role: string) => {
    await api.changeMemberRole({ orgSlug: orgSlug.value, userId, body: { roleKey: role } });
    tell(`${name} is ${labelOf(roles, role)} now`);
  };
  // The list is read again after a refusal too, so that it shows the stored role.
  const { chosen, choose } = useChoice(roleKey, (role) => change(role).finally(onChange));
  const given = rolesGivenBy(roles, may);
  // Nobody changes a higher role.
  const isGiven = given.some(({ value }) => value === roleKey);
  if (!may("org.member:manage") || userId === user.value?.id || !isGiven) {
    return labelOf(roles, roleKey);
  }
  return (
    <Select
      label={`Role of ${name}`}
      value={chosen}
      choices={given}
      onValue={(role) => void choose(role).catch(tellFailure)}
    />
  );
}

const RoleHints = ({ roles }: Pick<People, "roles">) => (
  <details class="step">
    <summary>What the roles may do</summary>
    <Facts of={roles.flatMap(({ label, hint }) => (hint === undefined ? [] : [[label, hint]]))} />
  </details>
);
