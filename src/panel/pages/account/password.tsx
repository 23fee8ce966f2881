import { account } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { readUser } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { type FieldTable, SendForm } from "../../ui/form/form.tsx";
import { Note } from "../../ui/note.tsx";
import { tell } from "../../ui/toast.tsx";
import { newPassword } from "../shared-fields.ts";

const blank = { currentPassword: "", newPassword: "", again: "" };

/** Sets a new password; `required`: somebody else knows the current one. */
export function Password({ required = false }: { required?: boolean }) {
  const form = useForm(null, blank, async () => {
    const { again: _, ...body } = form.values;
    await account.changePassword({ body });
    tell("Changed. Your other sessions have ended.");
    await readUser();
  });
  const { newPassword: chosen, again } = form.values;
  const differs = again !== "" && again !== chosen;
  const fields: FieldTable<typeof blank> = [
    {
      name: "currentPassword",
      label: "Present password",
      kind: "password",
      autocomplete: "current-password",
      required: true,
    },
    { name: "newPassword", label: "New password", ...newPassword },
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
          Somebody else made your present password and knows it. Where a member of an organization did, you reach only
          that organization until you choose another one.
        </Note>
      )}
      <SendForm
        form={form}
        fields={fields}
        action="Change the password"
        disabled={chosen === "" || again !== chosen}
        narrow
      />
    </Card>
  );
}
