import { account } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { hasFeature, readUser, signOut, user } from "../../data/session.ts";
import { theme } from "../../data/theme.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { choicesOf } from "../../ui/form/choices.ts";
import { SignalChoice } from "../../ui/form/field.tsx";
import { SaveForm } from "../../ui/form/form.tsx";
import { Page } from "../../ui/page.tsx";
import { tellFailure } from "../../ui/toast.tsx";
import { Invitations, Memberships } from "./organizations.tsx";
import { Password } from "./password.tsx";
import { Sessions } from "./sessions.tsx";
import { Tokens } from "./tokens.tsx";

/** The signed-in person's own settings. */
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
      {hasFeature("administration") && <Tokens />}
      <Memberships organizations={value.organizations} />
      <Card title="Appearance">
        <SignalChoice
          label="Colours"
          of={theme}
          choices={choicesOf({ system: "As the system has them", light: "Light", dark: "Dark" })}
        />
      </Card>
    </Page>
  );
}

/** The person's name, as others see it. */
function OwnName({ name }: { name: string }) {
  const form = useForm("own-name", { name }, async (body) => {
    await account.changeMe({ body });
    await readUser();
  });
  return (
    <Card title="Name">
      <SaveForm
        form={form}
        fields={[
          {
            name: "name",
            label: "Your name",
            hint: "Others see it, and agents in the playground are told it.",
            maxLength: 200,
            autocomplete: "name",
          },
        ]}
      />
    </Card>
  );
}
