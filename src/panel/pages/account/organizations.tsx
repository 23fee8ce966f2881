import { account } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { readUser, type User } from "../../data/session.ts";
import { ActButton } from "../../ui/act-button.tsx";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/buttons.tsx";
import { Table } from "../../ui/list/table.tsx";
import { Failure } from "../../ui/note.tsx";
import { Remaining } from "../../ui/text/time.tsx";

/** The organizations that invite the person; nothing without invitations. */
export function Invitations() {
  const { value, error, reload } = useLoaded(async () => (await account.listInvitations()).invitations, []);
  return (
    <>
      <Failure error={error.value} retry={reload} />
      {value.value?.map((invitation) => (
        <Card
          key={invitation.id}
          title={`${invitation.organization.name} invites you`}
          lead={
            <>
              {invitation.invitedBy} offers you the role {invitation.roleKey} <Remaining until={invitation.expiresAt} />
              .
            </>
          }
        >
          <div class="actions">
            <ActButton
              look="primary"
              work={() => account.answerInvitation({ id: invitation.id, body: { accept: true } })}
              said={`You belong to ${invitation.organization.name} now`}
              onDone={() => reload().then(readUser)}
            >
              Join
            </ActButton>
            <ActButton
              work={() => account.answerInvitation({ id: invitation.id, body: { accept: false } })}
              said="Declined"
              onDone={reload}
            >
              Decline
            </ActButton>
          </div>
        </Card>
      ))}
    </>
  );
}

/** The organizations that the person belongs to. */
export function Memberships({ organizations }: { organizations: User["organizations"] }) {
  if (organizations.length === 0) {
    return (
      <Card title="Organizations">
        <p class="soft">You belong to none. Ask an Admin of one to invite your e-mail address.</p>
      </Card>
    );
  }
  return (
    <Card title="Organizations">
      <Table
        label="Organizations"
        rows={organizations}
        keyOf={({ slug }) => slug}
        about={({ slug }) => <code>{slug}</code>}
        columns={[
          { title: "Organization", cell: ({ name }) => name },
          { title: "Your role", cell: ({ roleKey }) => roleKey },
        ]}
        actions={({ slug, name }) => (
          <ConfirmButton
            small
            label="Leave"
            title={`Leave ${name}?`}
            action="Leave the organization"
            onConfirm={() => account.leaveOrganization({ orgSlug: slug })}
            said={`You left ${name}`}
            onDone={readUser}
          >
            You reach nothing of it from then on. Only an Admin can bring you back.
          </ConfirmButton>
        )}
      />
    </Card>
  );
}
