import { isValidElement } from "preact";
import { Suspense } from "preact/compat";
import type { Form } from "../../data/form/form.ts";
import { valueAt } from "../../data/form/paths.ts";
import { Button } from "../button.tsx";
import { Card } from "../card.tsx";
import { Note } from "../note.tsx";
import { lazily } from "../waiting.tsx";
import { Choice, ListField, NumberField, SecretField, Switch, TextArea, TextField } from "./field.tsx";
import { type AnyField, type FieldTable, fieldsIn } from "./table.ts";

const Diff = lazily(async () => (await import("../text/diff.tsx")).Diff);

interface Props<T extends object> {
  form: Form<T>;
  fields: FieldTable<T>;
}

/** The fields of a form, rendered from their table. */
export function Fields<T extends object>({ form, fields }: Props<T>) {
  return (
    <>
      {fields.map((item, index) => {
        if (item === false || isValidElement(item)) return item;
        if (Array.isArray(item)) {
          // An empty row would leave a gap.
          if (fieldsIn<T>(item).every(({ shown }) => shown === false)) return null;
          return (
            <div key={index} class="columns">
              <Fields form={form} fields={item} />
            </div>
          );
        }
        if ("fields" in item) {
          const { title, lead } = item;
          return (
            <Card key={index} title={title} lead={lead}>
              <Fields form={form} fields={item.fields} />
            </Card>
          );
        }
        const field = item as unknown as AnyField;
        return field.shown !== false && <FieldView key={index} form={form} field={field} />;
      })}
    </>
  );
}

interface FieldProps<T extends object> {
  form: Form<T>;
  field: AnyField;
}

function FieldView<T extends object>({ form, field }: FieldProps<T>) {
  const { name, path = name, shown: _, wording, also, empty, control, kind, lines, choices = [], ...rest } = field;
  const value = valueAt(form.values, name);
  const set = (typed: unknown) => {
    const next = typed === "" && empty === null ? null : typed;
    form.setAt(name, next);
    if (also) form.set(also(next) as Partial<T>);
  };
  const refusal = form.problem(path);
  const problem = rest.problem ?? (refusal && wording ? wording(refusal) : refusal);
  const about = { ...rest, problem, after: <OthersValue form={form} field={field} /> };
  switch (kind) {
    case "custom":
      return (
        <>
          {control?.({ value, problem, onValue: set })}
          {about.after}
        </>
      );
    case "switch":
      return <Switch {...about} checked={value === true} onChecked={set} />;
    case "number":
      return <NumberField {...about} value={value as number | null} onNumber={set} />;
    case "list":
      return <ListField {...about} lines={lines} items={value as readonly string[]} onItems={set} />;
  }
  const text = { ...about, value: String(value ?? ""), onValue: set };
  if (kind === "choice") return <Choice {...text} choices={choices} />;
  if (kind === "area") return <TextArea {...text} />;
  if (kind === "secret") return <SecretField {...text} />;
  return <TextField {...text} {...(kind === "password" && { type: kind })} />;
}

/** The value that somebody else has saved in a field since it was changed here; saving overwrites it. */
function OthersValue<T extends object>({ form, field: { name, label, kind, choices = [] } }: FieldProps<T>) {
  const others = form.othersValue(name);
  if (others === undefined) return null;
  const isText = kind === "area";
  const take = `Take the saved ${isText ? "text" : "value"}`;
  const chosen = kind === "choice" ? choices.find(({ value }) => value === (others ?? "")) : undefined;
  const said = isText ? "another text" : (chosen?.label ?? (kind === "custom" ? "another value" : wordsOf(others)));
  return (
    <div class="form">
      <Note look="warn">Somebody else has saved {said}. Saving yours replaces it.</Note>
      {isText && (
        <Suspense fallback={null}>
          <Diff
            label={`${label}: the saved text → yours`}
            before={String(others)}
            after={String(valueAt(form.values, name) ?? "")}
          />
        </Suspense>
      )}
      <div class="actions">
        <Button small aria-label={`${take} of ${label}`} onClick={() => form.setAt(name, others)}>
          {take}
        </Button>
      </div>
    </div>
  );
}

function wordsOf(value: unknown): string {
  if (value === null || value === "") return "an empty value";
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) ? value.map(String).join(", ") : String(value);
}
