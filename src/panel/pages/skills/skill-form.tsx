import type { RequiredEnv, Skill } from "../../../client/index.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Button } from "../../ui/button.tsx";
import { ListField, Switch, TextArea, TextField } from "../../ui/form/field.tsx";
import type { Control, FieldTable } from "../../ui/form/form.tsx";

/** The editable part of a skill. */
export interface SkillInput
  extends Pick<Skill, "category" | "description" | "content" | "requiredTools" | "requiredEnv"> {
  name: string;
  changelog: string;
}

/** The fields of a skill. Once the skill is `made`, its name can't be changed. */
export const skillFields = (made: boolean): FieldTable<SkillInput> => [
  {
    title: "When it is used",
    fields: [
      [
        {
          name: "name",
          label: "Name",
          required: true,
          autofocus: true,
          hint: "Fixed once the skill is made.",
          shown: !made,
        },
        { name: "category", label: "Category", optional: true },
      ],
      {
        name: "description",
        label: "Description",
        required: true,
        hint: "One line. By it the model decides when to read the skill.",
      },
    ],
  },
  {
    title: "Instructions",
    lead: "Markdown. A stored value is named as {{skill_env.skill.VARIABLE}}.",
    fields: [{ name: "content", label: "Text", kind: "custom", control: (control) => <Editor {...control} /> }],
  },
  {
    title: "What it needs",
    fields: [
      {
        name: "requiredTools",
        label: "Tools",
        optional: true,
        hint: "Turned on together with the skill. Names with commas between them, such as httpRequest, github:createIssue.",
        kind: "list",
      },
      {
        name: "requiredEnv",
        label: "Values that each agent gives it",
        kind: "custom",
        control: (control) => <Variables {...control} />,
      },
    ],
  },
];

const Editor = ({ value, problem, onValue }: Control<string>) => (
  <div class="editor">
    <TextArea label="Text" rows={18} required value={value} problem={problem} onValue={onValue} />
    <div class="field">
      <span class="label">How it reads</span>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard. */}
      <section class="preview" aria-label="How the instructions read" tabIndex={0}>
        <Markdown text={value} />
      </section>
    </div>
  </div>
);

/** The request body, without empty fields. */
export const asBody = ({ category, changelog, description, content, requiredTools, requiredEnv }: SkillInput) => ({
  description,
  content,
  requiredTools,
  requiredEnv,
  ...(category === "" ? {} : { category }),
  ...(changelog === "" ? {} : { changelog }),
});

function Variables({ value: variables, problem, onValue }: Control<RequiredEnv[]>) {
  const change = (index: number, changes: RequiredEnv | null) =>
    onValue(variables.flatMap((one, at) => (at === index ? (changes === null ? [] : [changes]) : [one])));
  return (
    <fieldset class="bare form">
      <legend class="label">Values that each agent gives it</legend>
      {problem !== undefined && <p class="wrong">{problem}</p>}
      {variables.map((variable, index) => (
        <Variable
          key={index}
          variable={variable}
          onVariable={(next) => change(index, next)}
          onRemove={() => change(index, null)}
        />
      ))}
      <div class="actions">
        <Button small onClick={() => onValue([...variables, { name: "", sensitive: true }])}>
          Add a value
        </Button>
      </div>
    </fieldset>
  );
}

interface VariableProps {
  variable: RequiredEnv;
  onVariable: (variable: RequiredEnv) => void;
  onRemove: () => void;
}

const Variable = ({ variable, onVariable, onRemove }: VariableProps) => (
  <div class="step form">
    <div class="columns">
      <TextField
        label="Name of the value"
        required
        placeholder="API_TOKEN"
        spellcheck={false}
        value={variable.name}
        onValue={(name) => onVariable({ ...variable, name })}
      />
      <TextField
        label="What it is"
        optional
        value={variable.description ?? ""}
        onValue={(description) => onVariable({ ...variable, description })}
      />
      <ListField
        label="Hosts that get it"
        optional
        hint="With commas between them. Empty: any host that the skill calls."
        items={variable.hosts ?? []}
        onItems={(hosts) => {
          const { hosts: _, ...rest } = variable;
          onVariable(hosts.length === 0 ? rest : { ...rest, hosts });
        }}
      />
    </div>
    <Switch
      label="A secret"
      hint="Never shown, and never told to the model."
      checked={variable.sensitive !== false}
      onChecked={(sensitive) => onVariable({ ...variable, sensitive })}
    />
    <div class="actions">
      <Button small look="danger" onClick={onRemove}>
        Remove
      </Button>
    </div>
  </div>
);
