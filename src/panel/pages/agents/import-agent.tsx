import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { AgentBundle, ImportedAgent } from "../../../client/index.ts";
import { useAction } from "../../data/action.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/note.tsx";
import { ImportOutcome } from "./import-outcome.tsx";

interface Props {
  label: string;
  send: (bundle: AgentBundle) => Promise<ImportedAgent>;
  onImported: () => void;
}

/** Takes an agent from a file that an export wrote, and says what is left to do. */
export function ImportAgent({ label, send, onImported }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const open = useSignal(false);
  const done = useSignal<ImportedAgent | null>(null);
  const act = useAction(async (file: File) => {
    done.value = null;
    done.value = await send(await bundleIn(file));
    onImported();
  });
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
          open.value = true;
          void act.run(file);
        }}
      />
      <Button busy={act.busy} onClick={() => input.current?.click()}>
        {act.busy ? "Importing…" : label}
      </Button>
      {open.value && !act.busy && (
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

async function bundleIn(file: File): Promise<AgentBundle> {
  const text = await file.text();
  try {
    return JSON.parse(text) as AgentBundle;
  } catch {
    throw new Error(`${file.name} is no export of an agent: it is not JSON`);
  }
}
