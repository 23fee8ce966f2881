import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { AgentBundle, ImportedAgent } from "../../../client/index.ts";
import { useAction } from "../../data/action.ts";
import { jsonIn } from "../../data/json.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog/confirm.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Failure } from "../../ui/note.tsx";
import { ImportOutcome } from "./import-outcome.tsx";

interface Props {
  label: string;
  /** What is lost by it: asked about once a file is chosen. Absent: nothing is. */
  warning?: string;
  send: (bundle: AgentBundle) => Promise<ImportedAgent>;
  onImported: () => void;
}

/** Takes an agent from a file that an export wrote, and says what is left to do. */
export function ImportAgent({ label, warning, send, onImported }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const open = useSignal(false);
  const chosen = useSignal<File | null>(null);
  const done = useSignal<ImportedAgent | null>(null);
  const act = useAction(async (file: File) => {
    done.value = null;
    done.value = await send(jsonIn(await file.text(), file.name) as AgentBundle);
    onImported();
  });
  const take = async (file: File) => {
    open.value = true;
    await act.run(file);
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label={`File: ${label}`}
        accept=".json"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = "";
          if (!file) return;
          if (warning === undefined) void take(file);
          else chosen.value = file;
        }}
      />
      <Button busy={act.busy} onClick={() => input.current?.click()}>
        {act.busy ? "Importing…" : label}
      </Button>
      {chosen.value && (
        <Confirm
          title={`Take ${chosen.value.name}?`}
          action={label}
          onConfirm={() => (chosen.value ? take(chosen.value) : Promise.resolve())}
          onClose={() => {
            chosen.value = null;
          }}
        >
          {warning}
        </Confirm>
      )}
      {open.value && !act.busy && chosen.value === null && (
        <Dialog
          title={done.value ? `${done.value.slug} is imported` : "Nothing was imported"}
          onClose={() => {
            open.value = false;
          }}
        >
          <Failure error={act.error} />
          {done.value && <ImportOutcome imported={done.value} />}
          <div class="actions">
            <Button
              look="primary"
              onClick={() => {
                open.value = false;
              }}
            >
              Done
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
