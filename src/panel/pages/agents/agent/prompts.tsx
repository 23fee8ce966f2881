import { useSignal } from "@preact/signals";
import { useMemo, useRef } from "preact/hooks";
import type { Prompts } from "../../../../client/index.ts";
import { api, isRefused, problemsOf } from "../../../data/api.ts";
import { useForm } from "../../../data/form.ts";
import { useLoaded } from "../../../data/load.ts";
import { Allowed, Changeable } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { Diff } from "../../../ui/diff.tsx";
import { TextArea } from "../../../ui/form/field.tsx";
import { SaveForm } from "../../../ui/form/save-form.tsx";
import { Failure, Note } from "../../../ui/note.tsx";
import { Waiting } from "../../../ui/waiting.tsx";
import { PromptPreview } from "./prompt-preview.tsx";
import type { TabProps } from "./tab-props.ts";

type Section = Prompts["prompts"][number];
/** Null: the default, once it is saved. */
type Sections = Partial<Record<Section["key"], string | null>>;

/** The sections of an agent's prompt, in their order. */
export function PromptsTab({ agent: { slug } }: TabProps) {
  const { value, error, reload } = useLoaded(() => api.listPrompts({ slug }), [slug]);
  const prompts = value.value;
  return (
    <>
      <p class="soft">
        The sections make up the prompt in this order. <code>{"{{name}}"}</code>, <code>{"{{description}}"}</code>,{" "}
        <code>{"{{skillsList}}"}</code>, <code>{"{{memories}}"}</code>, <code>{"{{state}}"}</code>,{" "}
        <code>{"{{userName}}"}</code>, <code>{"{{datetime}}"}</code> and <code>{"{{timezone}}"}</code> are filled in.
      </p>
      <Failure error={error.value} retry={reload} />
      {!prompts && error.value === undefined && <Waiting />}
      {prompts && <PromptForm slug={slug} {...prompts} onChange={reload} />}
    </>
  );
}

interface FormProps extends Prompts {
  slug: string;
  onChange: () => Promise<void>;
}

function PromptForm({ slug, prompts, revision, onChange }: FormProps) {
  const stored = useMemo<Sections>(
    () => Object.fromEntries(prompts.map(({ key, content }) => [key, content])),
    [prompts],
  );
  const changesIn = (values: Partial<Sections>) =>
    prompts.flatMap(({ key }) => (key in values ? [{ key, content: values[key] ?? null }] : []));
  // A refusal names a section by its place among those that were sent.
  const sent = useRef<readonly Section["key"][]>([]);
  const form = useForm<Sections>(`prompts.${slug}`, stored, async (changes) => {
    const sections = changesIn(changes);
    sent.current = sections.map(({ key }) => key);
    const headers = { "If-Match": `"${revision}"` };
    await api.savePrompts({ slug, body: { sections } }, { headers }).catch(async (error: unknown) => {
      if (!isRefused(error, 412)) throw error;
      await onChange();
      throw new Error("The agent was changed meanwhile, and is read again. Look at your texts, and save once more.");
    });
    await onChange();
  });
  const say = (path: string, message: string) => {
    const key = sent.current[Number(/^sections\.(\d+)/.exec(path)?.[1])];
    const section = prompts.find((one) => one.key === key);
    return section && `${section.title}: ${message}`;
  };
  const problems = problemsOf(form.error);
  const previews = useSignal(false);
  return (
    <div class="form">
      <div class="actions">
        <Button
          onClick={() => {
            previews.value = true;
          }}
        >
          Preview
        </Button>
      </div>
      <Changeable to="agent.prompt:write">
        <SaveForm form={form} say={say}>
          {prompts.map(({ key, title, isDefault }) => {
            const content = form.values[key] ?? null;
            const text = content ?? "";
            const others = form.othersValue(key);
            return (
              <div class="form" key={key}>
                <TextArea
                  label={title}
                  rows={Math.max(3, Math.min(16, text.split("\n").length + 1))}
                  value={text}
                  problem={problems.get(`sections.${sent.current.indexOf(key)}`)}
                  hint={content === null ? "The default comes back once this is saved." : undefined}
                  onValue={(written) => form.set({ [key]: written })}
                />
                {typeof others === "string" && (
                  <OtherText title={title} own={text} others={others} onTake={() => form.set({ [key]: others })} />
                )}
                {!isDefault && content !== null && (
                  <Allowed to="agent.prompt:write">
                    <div class="actions">
                      <Button small look="plain" onClick={() => form.set({ [key]: null })}>
                        {`Back to the default of ${title}`}
                      </Button>
                    </div>
                  </Allowed>
                )}
              </div>
            );
          })}
        </SaveForm>
      </Changeable>
      {previews.value && (
        <PromptPreview
          slug={slug}
          sections={changesIn(form.changes)}
          onClose={() => {
            previews.value = false;
          }}
        />
      )}
    </div>
  );
}

interface OtherTextProps {
  title: string;
  own: string;
  others: string;
  onTake: () => void;
}

/** The text that somebody else saved while this person wrote. Saving puts the person's own in its place. */
const OtherText = ({ title, own, others, onTake }: OtherTextProps) => (
  <>
    <Note look="warn">Somebody else has saved another text. Saving yours replaces it.</Note>
    <Diff label={`${title}: the saved text → yours`} before={others} after={own} />
    <Allowed to="agent.prompt:write">
      <div class="actions">
        <Button small onClick={onTake}>
          {`Take the saved text of ${title}`}
        </Button>
      </div>
    </Allowed>
  </>
);
