import type { PromptDraft } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useLoaded } from "../../../data/load.ts";
import { Button } from "../../../ui/button.tsx";
import { Code } from "../../../ui/code.tsx";
import { Dialog } from "../../../ui/dialog/dialog.tsx";
import { Failure } from "../../../ui/note.tsx";
import { countText } from "../../../ui/numbers.ts";
import { Waiting } from "../../../ui/waiting.tsx";

interface Props {
  slug: string;
  /** The sections with unsaved changes. */
  sections: NonNullable<PromptDraft["sections"]>;
  onClose: () => void;
}

/** The prompt as the model would get it now, with the changes that are not saved yet. */
export function PromptPreview({ slug, sections, onClose }: Props) {
  const read = () => api.previewPrompts({ slug, body: sections.length === 0 ? {} : { sections } });
  const { value, error } = useLoaded(async () => (await read()).prompt, []);
  const prompt = value.value;
  return (
    <Dialog title="The assembled prompt" wide onClose={onClose}>
      <p class="soft">
        As a first message of yours would get it now, without memories and state
        {sections.length > 0 && ", with the changes that are not saved yet"}.
      </p>
      <Failure error={error.value} />
      {prompt === undefined && error.value === undefined && <Waiting />}
      {prompt !== undefined && <Code label={`${countText(prompt.length)} characters`} text={prompt} wraps />}
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
