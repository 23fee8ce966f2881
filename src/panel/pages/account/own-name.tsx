import { account } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { readUser } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { TextField } from "../../ui/form/field.tsx";
import { SaveBar } from "../../ui/form/save-bar.tsx";

/** The name that others see. */
export function OwnName({ name }: { name: string }) {
  const form = useForm("own-name", { name }, async (body) => {
    await account.changeMe({ body });
    await readUser();
  });
  return (
    <Card title="Name">
      <TextField
        label="Your name"
        hint="Others see it, and agents in the playground are told it."
        maxLength={200}
        autocomplete="name"
        value={form.values.name}
        problem={form.problem("name")}
        onValue={(text) => form.set({ name: text })}
      />
      <SaveBar form={form} />
    </Card>
  );
}
