import { useSignal } from "@preact/signals";
import { account } from "../data/api.ts";
import { useForm } from "../data/form/form.ts";
import { Button } from "../ui/button.tsx";
import { type FieldTable, SendForm } from "../ui/form/form.tsx";
import { Note } from "../ui/note.tsx";

const fields: FieldTable<{ email: string }> = [
  { name: "email", label: "E-mail", type: "email", autocomplete: "username", required: true, autofocus: true },
];

/** Asks for a link to reset the password. The page says the same whether or not the e-mail has an account. */
export function ForgotPassword({ onBack }: { onBack: () => void }) {
  const done = useSignal(false);
  const form = useForm(null, { email: "" }, async () => {
    await account.forgotPassword({ body: form.values });
    done.value = true;
  });
  if (done.value) {
    return (
      <>
        <Note look="good">
          <p>
            If there is an account for this e-mail, a mail with a link is on its way. The link works once and for 30
            minutes.
          </p>
        </Note>
        <div class="actions">
          <Button onClick={onBack}>Back to the sign-in</Button>
        </div>
      </>
    );
  }
  return (
    <SendForm form={form} fields={fields} action="Send me a link">
      <Button onClick={onBack}>Back</Button>
    </SendForm>
  );
}
