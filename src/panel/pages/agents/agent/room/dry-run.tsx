import { useSignal } from "@preact/signals";
import type { DryRun } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { jsonIn } from "../../../../data/json.ts";
import { Button } from "../../../../ui/button.tsx";
import { Code } from "../../../../ui/code.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { TextArea } from "../../../../ui/form/field.tsx";
import { Form } from "../../../../ui/form/form.tsx";
import { Failure, Note } from "../../../../ui/note.tsx";
import { outcomeWords } from "./outcomes.ts";
import { Verdicts } from "./verdicts.tsx";

interface Props {
  /** Of the source. */
  path: { slug: string; id: string };
  onClose: () => void;
}

const sample = `{
  "order": 4711,
  "text": "The teapot came broken"
}`;

/** Tells what would be done about an event, and does nothing. */
export function DryRunDialog({ path, onClose }: Props) {
  const text = useSignal(sample);
  const result = useSignal<DryRun | null>(null);
  const ask = useAction(async () => {
    result.value = null;
    result.value = await api.dryRunEventSource({ ...path, body: { payload: jsonIn(text.value, "This") } });
  });
  return (
    <Dialog title="Try an event" wide onClose={onClose}>
      <Form onSubmit={() => void ask.run()}>
        <TextArea
          label="What the system would send"
          rows={8}
          hint="JSON. The definitions are asked as for a real event; nothing is stored, and nobody is written to."
          value={text.value}
          onValue={(value) => {
            text.value = value;
          }}
        />
        <Failure error={ask.error} />
        {result.value && <Result result={result.value} />}
        <div class="actions">
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" type="submit" busy={ask.busy}>
            {ask.busy ? "Asking the model…" : "Try it"}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

const Result = ({ result: { outcome, definition, verdicts, prompt, reason } }: { result: DryRun }) => (
  <>
    <Note look={definition ? "good" : "warn"}>
      <p>
        {definition ? `${definition.name} matches: ` : ""}
        {outcomeWords[outcome]}
      </p>
      {reason !== null && <p>{reason}</p>}
    </Note>
    <Verdicts verdicts={verdicts} />
    {prompt !== null && <Code label="What the agent would be told" text={prompt} wraps />}
  </>
);
