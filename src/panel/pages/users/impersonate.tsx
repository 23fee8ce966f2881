import type { User } from "../../../client/index.ts";
import { useForm } from "../../data/form/form.ts";
import { goTo } from "../../data/route.ts";
import { impersonate } from "../../data/session.ts";
import { type FieldTable, FormDialog } from "../../ui/form/form.tsx";

const blank = { reason: "", minutes: 30 };
const fields: FieldTable<typeof blank> = [
  {
    name: "reason",
    label: "Reason",
    hint: "For the audit logs of the installation and of the person's organizations.",
    kind: "area",
    required: true,
    autofocus: true,
    minLength: 10,
    maxLength: 500,
  },
  { name: "minutes", label: "Minutes", hint: "At most 60.", kind: "number" },
];

/** Shows in this tab what another user sees. */
export function Impersonate({ user: { id, name }, onClose }: { user: User; onClose: () => void }) {
  const form = useForm(null, blank, async () => {
    await impersonate(id, form.values);
    goTo([]);
  });
  return (
    <FormDialog
      title={`See what ${name} sees`}
      action="Begin"
      form={form}
      fields={fields}
      onSaved={() => {}}
      onClose={onClose}
    />
  );
}
