import { signOut, user } from "../../data/session.ts";
import { type Theme, theme } from "../../data/theme.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Choice } from "../../ui/form/field.tsx";
import { Page } from "../../ui/page.tsx";
import { tellFailure } from "../../ui/toast.tsx";
import { Invitations } from "./invitations.tsx";
import { Memberships } from "./memberships.tsx";
import { OwnName } from "./own-name.tsx";
import { Password } from "./password.tsx";
import { Sessions } from "./sessions.tsx";

/** What belongs to the signed-in person alone. */
export function AccountPage() {
  const { value } = user;
  if (!value) return null;
  return (
    <Page
      title="Your account"
      lead={value.email}
      actions={<Button onClick={() => void signOut().catch(tellFailure)}>Sign out</Button>}
    >
      <Invitations />
      {value.passwordChangeRequired && <Password required />}
      <OwnName name={value.name} />
      {!value.passwordChangeRequired && <Password />}
      <Sessions />
      <Memberships organizations={value.organizations} />
      <Card title="Appearance">
        <Choice
          label="Colours"
          value={theme.value}
          choices={[
            { value: "system", label: "As the system has them" },
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
          onValue={(look) => {
            theme.value = look as Theme;
          }}
        />
      </Card>
    </Page>
  );
}
