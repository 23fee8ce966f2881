import { useSignal } from "@preact/signals";
import type { SkillEnv } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { may } from "../../../../data/session.ts";
import { Button } from "../../../../ui/button.tsx";
import { TextField } from "../../../../ui/form/field.tsx";
import { Form } from "../../../../ui/form/form.tsx";
import { SecretField } from "../../../../ui/form/secret-field.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell, tellFailure } from "../../../../ui/toast.tsx";

type Entry = SkillEnv["env"][number];

interface Props {
  slug: string;
  skillSlug: string;
  onChange: () => Promise<void>;
}

/** The values that an agent gives a skill. A secret one is sent to the server, and never comes back. */
export function SkillValues({ slug, skillSlug, onChange }: Props) {
  const { value, error, reload } = useLoaded(
    async () => (await api.listSkillEnv({ slug, skillSlug })).env,
    [slug, skillSlug],
  );
  const typed = useSignal<Readonly<Record<string, string>>>({});
  const given = Object.entries(typed.value).map(([key, text]) => ({ key, value: text }));
  const save = useAction(async () => {
    await api.putSkillEnv({ slug, skillSlug, body: { env: given } });
    typed.value = {};
    tell("Stored");
    await reload();
    await onChange();
  });
  const remove = async ({ key }: Entry) => {
    await api.deleteSkillEnv({ slug, skillSlug, key });
    tell(`${key} is deleted`);
    await reload();
    await onChange();
  };
  const writes = may("agent.skill:write");
  return (
    <Form onSubmit={() => void save.run()}>
      <Failure error={error.value} retry={reload} />
      <fieldset class="bare form" disabled={!writes}>
        <legend class="label">Values</legend>
        {value.value?.map((entry) => (
          <ValueField
            key={entry.key}
            entry={entry}
            text={typed.value[entry.key]}
            onText={(text) => {
              const { [entry.key]: _, ...others } = typed.value;
              typed.value = text === "" && entry.sensitive ? others : { ...others, [entry.key]: text };
            }}
            onRemove={() => void remove(entry).catch(tellFailure)}
          />
        ))}
        <Failure error={save.error} />
        {writes && (
          <div class="actions">
            <Button small type="submit" busy={save.busy} disabled={given.length === 0}>
              Store the values
            </Button>
          </div>
        )}
      </fieldset>
    </Form>
  );
}

interface FieldProps {
  entry: Entry;
  /** What was typed; undefined: nothing. */
  text: string | undefined;
  onText: (text: string) => void;
  onRemove: () => void;
}

function ValueField({ entry: { key, value, sensitive, configured, description }, text, onText, onRemove }: FieldProps) {
  const Input = sensitive ? SecretField : TextField;
  return (
    <Input
      label={key}
      placeholder={sensitive && configured ? "A value is stored" : ""}
      hint={
        <>
          {description} {sensitive && "Secret: it is never shown."}{" "}
          {configured && (
            <Button look="danger" small onClick={onRemove}>
              Delete {key}
            </Button>
          )}
        </>
      }
      value={text ?? value}
      onValue={onText}
    />
  );
}
