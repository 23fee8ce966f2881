import type { PromptDraft } from "../../../../client/index.ts";
import { api } from "../../../data/api.ts";
import { useLoaded } from "../../../data/load.ts";
import { Code } from "../../../ui/code.tsx";
import { Dialog } from "../../../ui/dialog/dialog.tsx";
import { WhenLoaded } from "../../../ui/list/when-loaded.tsx";
import { countText } from "../../../ui/numbers.ts";

interface Props {
  slug: string;
  /** The sections with unsaved changes. */
  sections: NonNullable<PromptDraft["sections"]>;
  onClose: () => void;
}

/** The prompt as the model would get it now, with the changes that are not saved yet. */
export function PromptPreview({ slug, sections, onClose }: Props) {
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
