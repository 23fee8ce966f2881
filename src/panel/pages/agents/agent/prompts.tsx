import { useRef } from "preact/hooks";
import type { Prompts } from "../../../../client/index.ts";
import { api, isRefused } from "../../../data/api.ts";
import { useForm } from "../../../data/form.ts";
import { useLoaded } from "../../../data/load.ts";
import { Allowed, Changeable } from "../../../ui/allowed.tsx";
import { Button } from "../../../ui/button.tsx";
import { DialogButton } from "../../../ui/dialog/dialog-button.tsx";
import { SaveForm } from "../../../ui/form/form.tsx";
import type { FieldTable } from "../../../ui/form/table.ts";
import { WhenLoaded } from "../../../ui/list/when-loaded.tsx";
import { PromptPreview } from "./prompt-preview.tsx";
import type { TabProps } from "./tab-props.ts";

type Section = Prompts["prompts"][number];
/** Null: the default, once it is saved. */
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
