import { account } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { readUser } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { SendForm } from "../../ui/form/form.tsx";
import type { FieldTable } from "../../ui/form/table.ts";
import { Note } from "../../ui/note.tsx";
import { tell } from "../../ui/toast.tsx";

const blank = { currentPassword: "", newPassword: "", again: "" };

/** A new password; `required`: somebody else knows the present one. */
export function Password({ required = false }: { required?: boolean }) {
  const form = useForm(null, blank, async () => {
    const { currentPassword, newPassword } = form.values;
    await account.changePassword({ body: { currentPassword, newPassword } });
    tell("Changed. Your other sessions have ended.");
    await readUser();
  });
  const { newPassword, again } = form.values;
  const differs = again !== "" && again !== newPassword;
  const fields: FieldTable<typeof blank> = [
    {
      name: "currentPassword",
      label: "Present password",
      kind: "password",
      autocomplete: "current-password",
      required: true,
    },
    {
      name: "newPassword",
      label: "New password",
      kind: "password",
      autocomplete: "new-password",
      required: true,
      minLength: 8,
      maxLength: 256,
      hint: "At least 8 characters.",
    },
    {
      name: "again",
      label: "New password once more",
      kind: "password",
      autocomplete: "new-password",
      required: true,
      problem: differs ? "The two passwords differ." : undefined,
    },
  ];
  return (
    <Card title={required ? "Choose a password of your own" : "Password"}>
      {required && (
        <Note look="warn">
          Somebody else made your present password and knows it. Until you choose another one, you reach only the
          organization that added you.
        </Note>
      )}
      <SendForm
        form={form}
        fields={fields}
        action="Change the password"
        disabled={newPassword === "" || again !== newPassword}
        narrow
      />
    </Card>
  );
}
