import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { SkillImport, SkillImportAnswer } from "../../../client/index.ts";
import { useAction } from "../../data/action.ts";
import { api } from "../../data/api.ts";
import { jsonIn } from "../../data/json.ts";
import { orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Failure } from "../../ui/note.tsx";

/** Takes skills from a file: a zip of folders, or what an export answered. */
export function ImportSkills({ onImported }: { onImported: () => void }) {
  const input = useRef<HTMLInputElement>(null);
  const done = useSignal<SkillImportAnswer | null>(null);
  const act = useAction(async (file: File) => {
    const body = file.name.endsWith(".json")
      ? (jsonIn(await file.text(), file.name) as SkillImport)
      : new Blob([file], { type: "application/zip" });
    done.value = await api.importSkills({ orgSlug: orgSlug.value, body });
    onImported();
  });
  const open = useSignal(false);
  const close = () => {
    open.value = false;
    done.value = null;
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        class="unseen"
        aria-label="File with skills"
        tabIndex={-1}
        accept=".zip,.json"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (!file) return;
          open.value = true;
          void act.run(file);
        }}
      />
      <Button busy={act.busy} onClick={() => input.current?.click()}>
        {act.busy ? "Importing…" : "Import"}
      </Button>
      {open.value && !act.busy && (
        <Dialog title={act.error === undefined ? "Imported" : "Nothing was imported"} onClose={close}>
          <Failure error={act.error} />
          {done.value && <Outcome answer={done.value} />}
          <div class="actions">
            <Button look="primary" onClick={close}>
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}

const Outcome = ({ answer: { created, updated, skipped, ignored } }: { answer: SkillImportAnswer }) => (
  <>
    <dl class="facts">
      <div>
        <dt>New</dt>
        <dd>{created}</dd>
      </div>
      <div>
        <dt>With a new version</dt>
        <dd>{updated}</dd>
      </div>
      <div>
        <dt>The same already</dt>
        <dd>{skipped}</dd>
      </div>
    </dl>
    {ignored.length > 0 && (
      <p class="soft">
        Skills have no use for {ignored.length === 1 ? "this file" : "these files"}: {ignored.join(", ")}
      </p>
    )}
  </>
);
