import type { User } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { tell } from "../../ui/toast.tsx";

/** A password for somebody else: the browser must not store it as one's own. */
export const chosenPassword = {
  kind: "secret",
  required: true,
  minLength: 8,
  maxLength: 256,
  hint: "At least 8 characters. The person is asked to choose another one.",
} as const;

const blank = { password: "" };
const fields: FieldTable<typeof blank> = [
  { name: "password", label: "New password", ...chosenPassword, autofocus: true },
];

/** Sets another user's password. */
export function NewPassword({ user: { id, name }, onClose }: { user: User; onClose: () => void }) {
  const form = useForm(null, blank, async () => {
    await api.resetUserPassword({ id, body: form.values });
    tell(`${name} has a new password, and is signed out everywhere`);
  });
  return (
    <FormDialog
      title={`A new password for ${name}`}
      action="Set the password"
      form={form}
      fields={fields}
      onSaved={() => {}}
      onClose={onClose}
    />
  );
}
