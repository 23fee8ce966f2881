import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/list/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/buttons.tsx";
import { Table } from "../../ui/list/table.tsx";
import { Failure } from "../../ui/note.tsx";
import { Remaining } from "../../ui/text/time.tsx";

/** The invitations without an answer; nothing when there are none. */
export function SentInvitations() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(
    async () => (await api.listSentInvitations({ orgSlug: slug })).invitations,
    [slug],
  );
  const invitations = value.value ?? [];
  if (invitations.length === 0) return <Failure error={error.value} retry={reload} />;
  return (
    <Card title="Invited">
      <Table
        label="Invitations"
        rows={invitations}
        keyOf={({ id }) => id}
        about={({ invitedBy }) => `by ${invitedBy}`}
        columns={[
          { title: "E-mail", cell: ({ email }) => email },
          { title: "Role", cell: ({ roleKey }) => roleKey },
          { title: "Valid", end: true, cell: ({ expiresAt }) => <Remaining until={expiresAt} /> },
        ]}
        actions={({ id, email }) => (
          <ConfirmButton
            small
            label="Withdraw"
            title={`Withdraw the invitation of ${email}?`}
            action="Withdraw"
            onConfirm={() => api.withdrawInvitation({ orgSlug: slug, id })}
            said="Withdrawn"
            onDone={reload}
          >
            It can't be accepted any more.
          </ConfirmButton>
        )}
      />
    </Card>
  );
}
