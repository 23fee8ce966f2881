import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useAction } from "../../data/form/action.ts";
import { FileButton } from "../file-button.tsx";
import { Failure } from "../note.tsx";
import { Confirm } from "./confirm.tsx";
import { Dialog } from "./dialog.tsx";

interface Props<Answer> {
  /** The text of the button. */
  label: string;
  /** The label of the file input, for screen readers. */
  fileLabel: string;
  /** The `accept` attribute of the file input. */
  accept: string;
  /** The data that the import deletes, shown when a file is chosen. Absent: none. */
  warning?: string | undefined;
  send: (file: File) => Promise<Answer>;
  /** The title of the outcome. */
  title: (answer: Answer) => string;
  children: (answer: Answer) => ComponentChildren;
}

/** Sends a file, and shows the result in a dialog. */
export function ImportButton<Answer>({ label, fileLabel, accept, warning, send, title, children }: Props<Answer>) {
  const open = useSignal(false);
  const chosen = useSignal<File | null>(null);
  const done = useSignal<Answer | null>(null);
  const act = useAction(async (file: File) => {
    done.value = null;
    done.value = await send(file);
  });
  const take = async (file: File) => {
    open.value = true;
    await act.run(file);
  };
  const { value: file } = chosen;
  const answer = done.value;
  return (
    <>
      <FileButton
        label={fileLabel}
        accept={accept}
        busy={act.busy}
        onFile={(next) => {
          if (warning === undefined) void take(next);
          else chosen.value = next;
        }}
      >
        {act.busy ? "Importing…" : label}
      </FileButton>
      {file && (
        <Confirm
          title={`Take ${file.name}?`}
          action={label}
          onConfirm={() => take(file)}
          onClose={() => {
            chosen.value = null;
          }}
        >
          {warning}
        </Confirm>
      )}
      {open.value && !act.busy && !file && (
        <Dialog
          title={answer ? title(answer) : "Nothing was imported"}
          close="Done"
          onClose={() => {
            open.value = false;
          }}
        >
          <Failure error={act.error} />
          {answer && children(answer)}
        </Dialog>
      )}
    </>
  );
}
