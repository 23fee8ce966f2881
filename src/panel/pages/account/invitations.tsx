import type { Invitation } from "../../../client/index.ts";
import { account } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { readUser } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Failure } from "../../ui/note.tsx";
import { Remaining } from "../../ui/time.tsx";
import { tell, tellFailure } from "../../ui/toast.tsx";

/** The organizations that ask the person to join; nothing while none does. */
export function Invitations() {
  const { value, error, reload } = useLoaded(async () => (await account.listInvitations()).invitations, []);
  const answer = async ({ id, organization: { name } }: Invitation, accept: boolean) => {
    await account.answerInvitation({ id, body: { accept } });
    tell(accept ? `You belong to ${name} now` : "Declined");
    await reload();
    if (accept) await readUser();
  };
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
            <Button look="primary" onClick={() => void answer(invitation, true).catch(tellFailure)}>
              Join
            </Button>
            <Button onClick={() => void answer(invitation, false).catch(tellFailure)}>Decline</Button>
          </div>
        </Card>
      ))}
    </>
  );
}
