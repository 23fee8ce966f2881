import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { ConfirmButton } from "../../ui/dialog/confirm-button.tsx";
import { Failure } from "../../ui/note.tsx";
import { Table } from "../../ui/table.tsx";
import { Remaining } from "../../ui/time.tsx";
import { tell } from "../../ui/toast.tsx";

/** The invitations that nobody has answered; nothing while there are none. */
export function SentInvitations() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(
    async () => (await api.listSentInvitations({ orgSlug: slug })).invitations,
    [slug],
  );
  const withdraw = async (id: string) => {
    await api.withdrawInvitation({ orgSlug: slug, id });
    tell("Withdrawn");
    await reload();
  };
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
          {
            title: "Actions",
            end: true,
            cell: ({ id, email }) => (
              <ConfirmButton
                small
                label="Withdraw"
                title={`Withdraw the invitation of ${email}?`}
                action="Withdraw"
                onConfirm={() => withdraw(id)}
              >
                It can't be accepted any more.
              </ConfirmButton>
            ),
          },
        ]}
      />
    </Card>
  );
}
