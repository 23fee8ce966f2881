import { account } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { readUser } from "../../data/session.ts";
import { ActButton } from "../../ui/act-button.tsx";
import { Card } from "../../ui/card.tsx";
import { Failure } from "../../ui/note.tsx";
import { Remaining } from "../../ui/time.tsx";

/** The organizations that ask the person to join; nothing while none does. */
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
