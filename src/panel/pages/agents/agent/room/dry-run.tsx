import { useSignal } from "@preact/signals";
import type { DryRun, EventDefinition } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useAction } from "../../../../data/form/action.ts";
import { jsonIn } from "../../../../data/text.ts";
import { Button } from "../../../../ui/button.tsx";
import { Dialog } from "../../../../ui/dialog/dialog.tsx";
import { TextArea } from "../../../../ui/form/field.tsx";
import { Form } from "../../../../ui/form/form.tsx";
import { Failure, Note } from "../../../../ui/note.tsx";
import { Code } from "../../../../ui/text/code.tsx";
import type { Sender } from "./senders.tsx";
import { outcomeWords, Verdicts } from "./verdicts.tsx";

interface Props {
  /** The path of the source. */
  path: { slug: string; id: string };
  sender: Sender;
  definitions: readonly EventDefinition[];
  onClose: () => void;
}

/** Shows how an event would be handled, without doing so. */
export function DryRunDialog({ path, sender, definitions, onClose }: Props) {
  const text = useSignal(JSON.stringify(sender.sample, null, 2));
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
        {result.value && <Result result={result.value} definitions={definitions} />}
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

interface ResultProps extends Pick<Props, "definitions"> {
  result: DryRun;
}

const Result = ({ result: { outcome, definition, verdicts, prompt, reason }, definitions }: ResultProps) => (
  <>
    <Note look={definition ? "good" : "warn"}>
      <p>
        {definition ? `${definition.name} matches: ` : ""}
        {outcomeWords[outcome]}
      </p>
      {reason !== null && <p>{reason}</p>}
    </Note>
    <Verdicts verdicts={verdicts} definitions={definitions} />
    {prompt !== null && <Code label="What the agent would be told" text={prompt} wraps />}
  </>
);
