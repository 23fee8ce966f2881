import { useSignal } from "@preact/signals";
import type { Member } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/dialog/buttons.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { ShownOnce } from "../../ui/text/shown-once.tsx";
import { tell } from "../../ui/toast.tsx";

/** The actions on another member. */
export function MemberActions({ member, onChange }: { member: Member; onChange: () => Promise<void> }) {
  const { userId, name } = member;
  const password = useSignal<string | null>(null);
  const path = { orgSlug: orgSlug.value, userId };
  const renew = async () => {
    password.value = (await api.renewMemberPassword(path)).password;
  };
  const signOut = async () => {
    const { count } = await api.endMemberSessions(path);
    tell(count === 0 ? `${name} was signed in nowhere` : `${name} is signed out everywhere`);
  };
  return (
    <>
      <ConfirmButton
        small
        label="New password"
        title={`Make a new password for ${name}?`}
        action="Make a new password"
        onConfirm={renew}
      >
        The present one stops working, and {name} is signed out everywhere.
      </ConfirmButton>
      <ConfirmButton
        small
        label="Sign out"
        title={`Sign ${name} out everywhere?`}
        action="Sign out everywhere"
        onConfirm={signOut}
      >
        {name} has to sign in again on every device.
      </ConfirmButton>
      <ConfirmButton
        small
        label="Remove"
        title={`Remove ${name}?`}
        action="Remove from the organization"
        onConfirm={() => api.removeMember(path)}
        said={`${name} is removed`}
        onDone={onChange}
      >
        {name} reaches nothing of this organization from then on. The account itself stays.
      </ConfirmButton>
      {password.value !== null && (
        <NewPassword
          name={name}
          password={password.value}
          onClose={() => {
            password.value = null;
            void onChange();
          }}
        />
      )}
    </>
  );
}

const NewPassword = ({ name, password, onClose }: { name: string; password: string; onClose: () => void }) => (
  <Dialog title={`A new password for ${name}`} onClose={onClose}>
    <ShownOnce label={`Password of ${name}`} text={password}>
      {name} chooses another one at the next sign-in.
    </ShownOnce>
    <div class="actions">
      <Button onClick={onClose}>Done</Button>
    </div>
  </Dialog>
);
