import type { SkillEnv } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form/form.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { may } from "../../../../data/session.ts";
import { ActButton } from "../../../../ui/act-button.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Fields } from "../../../../ui/form/fields.tsx";
import { type FieldOf, Form, Refusal } from "../../../../ui/form/form.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";

type Entry = SkillEnv["env"][number];

interface Props {
  slug: string;
  skillSlug: string;
  onChange: () => Promise<void>;
}

/** An agent's values for a skill. A secret one is sent to the server, and never comes back. */
export function SkillValues({ slug, skillSlug, onChange }: Props) {
  const values = useLoaded(async () => (await api.listSkillEnv({ slug, skillSlug })).env, [slug, skillSlug]);
  const changed = async () => {
    await values.reload();
    await onChange();
  };
  const form = useForm<Readonly<Record<string, string>>>(
    null,
    Object.fromEntries(values.value.value?.map(({ key, value }) => [key, value]) ?? []),
    async (given) => {
      const env = Object.entries(given).map(([key, value = ""]) => ({ key, value }));
      await api.putSkillEnv({ slug, skillSlug, body: { env } });
      tell("Stored");
      await changed();
    },
  );
  const writes = may("agent.skill:write");
  const fieldOf = ({ key, sensitive, configured, description }: Entry): FieldOf<Readonly<Record<string, string>>> => ({
    name: key,
    label: key,
    kind: sensitive ? "secret" : "text",
    placeholder: sensitive && configured ? "A value is stored" : "",
    hint: (
      <>
        {description} {sensitive && "Secret: it is never shown."}{" "}
        {configured && (
          <ActButton
            look="danger"
            small
            work={() => api.deleteSkillEnv({ slug, skillSlug, key })}
            said={`${key} is deleted`}
            onDone={changed}
          >
            Delete {key}
          </ActButton>
        )}
      </>
    ),
  });
  const fields = values.value.value?.map(fieldOf) ?? [];
  return (
    <Form onSubmit={() => void form.save()}>
      <Failure error={values.error.value} retry={values.reload} />
      <fieldset class="bare form" disabled={!writes}>
        <legend class="label">Values</legend>
        <Fields form={form} fields={fields} />
        <Refusal form={form} fields={fields} />
        {writes && (
          <div class="actions">
            <Button small type="submit" busy={form.busy} disabled={!form.dirty}>
              Store the values
            </Button>
          </div>
        )}
      </fieldset>
    </Form>
  );
}
