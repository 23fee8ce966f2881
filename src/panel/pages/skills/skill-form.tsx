import type { RequiredEnv, Skill } from "../../../client/index.ts";
import type { Form } from "../../data/form.ts";
import { Markdown } from "../../markdown/markdown.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Switch, TextArea, TextField } from "../../ui/form/field.tsx";
import { ListField } from "../../ui/form/list-field.tsx";

/** What can be written of a skill. */
export interface Written extends Pick<Skill, "category" | "description" | "content" | "requiredTools" | "requiredEnv"> {
  name: string;
  changelog: string;
}

interface Props {
  form: Form<Written>;
  /** The name is fixed once the skill is made. */
  named: boolean;
}

/** The fields of a skill. */
export function SkillFields({ form, named }: Props) {
  const { values, set, problem } = form;
  return (
    <>
      <Card title="When it is used">
        <div class="columns">
          {!named && (
            <TextField
              label="Name"
              required
              autofocus
              hint="Fixed once the skill is made."
              value={values.name}
              problem={problem("name")}
              onValue={(name) => set({ name })}
            />
          )}
          <TextField
            label="Category"
            optional
            value={values.category}
            problem={problem("category")}
            onValue={(category) => set({ category })}
          />
        </div>
        <TextField
          label="Description"
          required
          hint="One line. By it the model decides when to read the skill."
          value={values.description}
          problem={problem("description")}
          onValue={(description) => set({ description })}
        />
      </Card>
      <Card title="Instructions" lead="Markdown. A stored value is named as {{skill_env.skill.VARIABLE}}.">
        <div class="editor">
          <TextArea
            label="Text"
            rows={18}
            required
            value={values.content}
            problem={problem("content")}
            onValue={(content) => set({ content })}
          />
          <div class="field">
            <span class="label">How it reads</span>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard. */}
            <section class="preview" aria-label="How the instructions read" tabIndex={0}>
              <Markdown text={values.content} />
            </section>
          </div>
        </div>
      </Card>
      <Card title="What it needs">
        <ListField
          label="Tools"
          optional
          hint="Turned on together with the skill. Names with commas between them, such as httpRequest, github:createIssue."
          items={values.requiredTools}
          problem={problem("requiredTools")}
          onItems={(requiredTools) => set({ requiredTools })}
        />
        <Variables
          variables={values.requiredEnv}
          problem={problem("requiredEnv")}
          onVariables={(requiredEnv) => set({ requiredEnv })}
        />
      </Card>
    </>
  );
}

/** What the API takes: without what was left empty. */
export const asBody = ({ category, changelog, description, content, requiredTools, requiredEnv }: Written) => ({
  ...{ description, content, requiredTools, requiredEnv },
  ...(category === "" ? {} : { category }),
  ...(changelog === "" ? {} : { changelog }),
});

interface VariablesProps {
  variables: readonly RequiredEnv[];
  problem: string | undefined;
  onVariables: (variables: RequiredEnv[]) => void;
}

function Variables({ variables, problem, onVariables }: VariablesProps) {
  const change = (index: number, changes: RequiredEnv | null) =>
    onVariables(variables.flatMap((one, at) => (at === index ? (changes === null ? [] : [changes]) : [one])));
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
        <Button small onClick={() => onVariables([...variables, { name: "", sensitive: true }])}>
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
