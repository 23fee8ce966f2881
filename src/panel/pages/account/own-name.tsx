import { account } from "../../data/api.ts";
import { useForm } from "../../data/form.ts";
import { readUser } from "../../data/session.ts";
import { Card } from "../../ui/card.tsx";
import { SaveForm } from "../../ui/form/form.tsx";

/** The name that others see. */
export function OwnName({ name }: { name: string }) {
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
