import { useRef } from "preact/hooks";
import type { CallOptions, PromptDraft, Prompts } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useForm } from "../../../data/form/form.ts";
import { saveUnchanged } from "../../../data/form/unchanged.ts";
import { useLoaded } from "../../../data/list/load.ts";
import { Allowed, Changeable } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { DialogButton } from "../../../ui/dialog/buttons.tsx";
import { Dialog } from "../../../ui/dialog/dialog.tsx";
import { type FieldTable, SaveForm } from "../../../ui/form/form.tsx";
import { WhenLoaded } from "../../../ui/list/when-loaded.tsx";
import { Code } from "../../../ui/text/code.tsx";
import { countText } from "../../../ui/text/numbers.ts";
import type { TabProps } from "./tab-props.ts";

type Section = Prompts["prompts"][number];
/** Null: the next save restores the default. */
type Sections = Record<Section["key"], string | null>;

/** The sections of an agent's prompt, in their order. */
export function PromptsTab({ agent: { slug } }: TabProps) {
  const prompts = useLoaded(() => api.listPrompts({ slug }), [slug]);
  return (
    <>
      <p class="soft">
        The sections make up the prompt in this order. <code>{"{{name}}"}</code>, <code>{"{{description}}"}</code>,{" "}
        <code>{"{{skillsList}}"}</code>, <code>{"{{memories}}"}</code>, <code>{"{{state}}"}</code>,{" "}
        <code>{"{{userName}}"}</code>, <code>{"{{datetime}}"}</code> and <code>{"{{timezone}}"}</code> are filled in.
      </p>
      <WhenLoaded of={prompts}>{(read) => <PromptForm slug={slug} {...read} onChange={prompts.reload} />}</WhenLoaded>
    </>
  );
}

interface FormProps extends Prompts {
  slug: string;
  onChange: () => Promise<void>;
}

function PromptForm({ slug, prompts, revision, onChange }: FormProps) {
  const stored = Object.fromEntries(prompts.map(({ key, content }) => [key, content])) as Sections;
  const changesIn = (values: Partial<Sections>) =>
    prompts.flatMap(({ key }) => (key in values ? [{ key, content: values[key] ?? null }] : []));
  // A refusal names a section by its index among those that were sent.
  const sent = useRef<readonly Section["key"][]>([]);
  const form = useForm<Sections>(`prompts.${slug}`, stored, (changes) => {
    const sections = changesIn(changes);
    sent.current = sections.map(({ key }) => key);
    const save = (options: CallOptions) => api.savePrompts({ slug, body: { sections } }, options);
    return saveUnchanged(revision, "texts", save, onChange);
  });
  const fields = prompts.flatMap(({ key, title, isDefault }): FieldTable<Sections>[number][] => {
    const content = form.values[key];
    return [
      {
        name: key,
        label: title,
        path: `sections.${sent.current.indexOf(key)}`,
        hint: content === null ? "The default comes back once this is saved." : undefined,
        kind: "area",
        empty: "",
        rows: Math.max(3, Math.min(16, (content ?? "").split("\n").length + 1)),
      },
      !isDefault && content !== null && (
        <Allowed to="agent.prompt:write">
          <div class="actions">
            <Button small look="plain" onClick={() => form.set({ [key]: null })}>
              {`Back to the default of ${title}`}
            </Button>
          </div>
        </Allowed>
      ),
    ];
  });
  return (
    <div class="form">
      <div class="actions">
        <DialogButton
          dialog={(onClose) => <PromptPreview slug={slug} sections={changesIn(form.changes)} onClose={onClose} />}
        >
          Preview
        </DialogButton>
      </div>
      <Changeable to="agent.prompt:write">
        <SaveForm form={form} fields={fields} />
      </Changeable>
    </div>
  );
}

interface PreviewProps {
  slug: string;
  /** The sections with unsaved changes. */
  sections: NonNullable<PromptDraft["sections"]>;
  onClose: () => void;
}

/** The prompt that the model would get now, with unsaved changes. */
function PromptPreview({ slug, sections, onClose }: PreviewProps) {
  const read = () => api.previewPrompts({ slug, body: sections.length === 0 ? {} : { sections } });
  const prompt = useLoaded(async () => (await read()).prompt, []);
  return (
    <Dialog title="The assembled prompt" wide close="Close" onClose={onClose}>
      <p class="soft">
        As a first message of yours would get it now, without memories and state
        {sections.length > 0 && ", with the changes that are not saved yet"}.
      </p>
      <WhenLoaded of={prompt}>
        {(text) => <Code label={`${countText(text.length)} characters`} text={text} wraps />}
      </WhenLoaded>
    </Dialog>
  );
}
