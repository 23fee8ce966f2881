import type { User } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { user as me, readUser } from "../../data/session.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { tell } from "../../ui/toast.tsx";
import { chosenPassword } from "./new-password.tsx";

interface Values {
  email: string;
  name: string;
  password: string;
  isPlatformAdmin: boolean;
  active: boolean;
}

const blank: Values = { email: "", name: "", password: "", isPlatformAdmin: false, active: true };

/** The form of a user; null: of a new one. */
export function UserDialog({ user, ...props }: DialogProps & { user: User | null }) {
  const form = useForm<Values>(null, { ...blank, ...user }, async (changes) => {
    if (user === null) await create(form.values);
    else {
      await api.updateUser({ id: user.id, body: changes });
      if (user.id === me.value?.id) await readUser();
    }
  });
  const fields: FieldTable<Values> = [
    { name: "email", label: "E-mail", type: "email", required: true, autofocus: true, autocomplete: "off" },
    { name: "name", label: "Name", optional: user === null, required: user !== null, maxLength: 128 },
    { name: "password", label: "Password", ...chosenPassword, shown: user === null },
    {
      name: "isPlatformAdmin",
      label: "Platform Admin",
      hint: "Has every permission in every organization.",
      kind: "switch",
    },
    {
      name: "active",
      label: "May sign in",
      hint: "Off: sessions, tokens and streams end at once.",
      kind: "switch",
      shown: user !== null,
    },
  ];
  const title = user === null ? "New user" : user.name;
  return <FormDialog title={title} action={user ? "Save" : "Create"} form={form} fields={fields} {...props} />;
}

async function create({ email, name, password, isPlatformAdmin }: Values): Promise<void> {
  const named = name.trim() === "" ? {} : { name };
  const { user } = await api.createUser({ body: { email, password, isPlatformAdmin, ...named } });
  tell(`${user.name} can sign in. Add the person to an organization as a member.`);
}
