import { useSignal } from "@preact/signals";
import type { EventDefinition, EventSource } from "../../../../../client/index.ts";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { may } from "../../../../data/session.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { Code } from "../../../../ui/code.tsx";
import { ConfirmButton } from "../../../../ui/dialog/confirm-button.tsx";
import { Failure, Note } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { Address } from "./address.tsx";
import { DefinitionDialog } from "./definition-dialog.tsx";
import { Definitions } from "./definitions.tsx";
import { DryRunDialog } from "./dry-run.tsx";
import { type Sender, senderOf } from "./senders.tsx";
import { SourceDialog } from "./source-dialog.tsx";

interface Props {
  slug: string;
  source: EventSource;
  onChange: () => Promise<void>;
}

type Open = { dialog: "source" | "try" } | { dialog: "definition"; definition: EventDefinition | null } | null;

/** A source: its address, which of its events matter, and a way to try that out. */
export function SourceCard({ slug, source, onChange }: Props) {
  const { id, name, sourceType, enabled, webhookUrl, authKeyConfigured, definitions } = source;
  const path = { slug, id };
  const sender = senderOf(sourceType);
  const open = useSignal<Open>(null);
  const close = () => {
    open.value = null;
  };
  const turn = useAction(async () => {
    await api.updateEventSource({ ...path, body: { enabled: !enabled } });
    tell(enabled ? `${name} is off` : `${name} is on`);
    await onChange();
  });
  const rotate = async () => {
    await api.rotateEventSourceToken(path);
    tell("The source has another address");
    await onChange();
  };
  const remove = async () => {
    await api.deleteEventSource(path);
    tell(`${name} is deleted`);
    await onChange();
  };
  return (
    <Card
      title={name}
      lead={
        <>
          <span class={enabled ? "badge good" : "badge"}>{enabled ? "on" : "off"}</span>{" "}
          {sender.steps.length > 0 ? sender.label : sourceType}
          {authKeyConfigured && ", with a key"}
        </>
      }
    >
      {webhookUrl !== undefined && (
        <>
          <Address url={webhookUrl} />
          <HowTo sender={sender} />
          <Code label="A first event" text={firstEvent(webhookUrl, authKeyConfigured, sender)} />
        </>
      )}
      {definitions.length === 0 && (
        <Note look="warn">Nothing says yet which of its events matter, so none of them is handled.</Note>
      )}
      <Definitions
        path={path}
        definitions={definitions}
        onEdit={(definition) => {
          open.value = { dialog: "definition", definition };
        }}
        onChange={onChange}
      />
      <Failure error={turn.error} />
      <div class="actions">
        <Allowed to="agent.room:write">
          <Button
            small
            look={definitions.length === 0 ? "primary" : undefined}
            onClick={() => {
              open.value = { dialog: "definition", definition: null };
            }}
          >
            New definition
          </Button>
        </Allowed>
        {may("agent.room:write") && (
          <>
            <Button
              small
              onClick={() => {
                open.value = { dialog: "try" };
              }}
            >
              Try an event
            </Button>
            <Button
              small
              onClick={() => {
                open.value = { dialog: "source" };
              }}
            >
              Edit
            </Button>
            <Button small busy={turn.busy} onClick={() => void turn.run()}>
              {enabled ? "Turn off" : "Turn on"}
            </Button>
            <ConfirmButton
              small
              label="Another address"
              title={`Give ${name} another address?`}
              action="Give another address"
              onConfirm={rotate}
            >
              Calls to the present one are unknown at once. Tell the sender the new one.
            </ConfirmButton>
            <ConfirmButton small label="Delete" title={`Delete ${name}?`} action="Delete the source" onConfirm={remove}>
              Its address and its definitions go. Events that came stay in the ledger.
            </ConfirmButton>
          </>
        )}
      </div>
      {open.value?.dialog === "source" && (
        <SourceDialog slug={slug} source={source} onSaved={onChange} onClose={close} />
      )}
      {open.value?.dialog === "try" && <DryRunDialog {...{ path, sender, definitions }} onClose={close} />}
      {open.value?.dialog === "definition" && (
        <DefinitionDialog
          path={path}
          sender={sender}
          definition={open.value.definition}
          onSaved={onChange}
          onClose={close}
        />
      )}
    </Card>
  );
}

/** The steps at the sender, where they are known. */
function HowTo({ sender: { label, steps } }: { sender: Sender }) {
  if (steps.length === 0) return null;
  return (
    <details class="step">
      <summary>How {label} is told the address</summary>
      <ol class="steps">
        {steps.map((step, index) => (
          <li key={index}>{step}</li>
        ))}
      </ol>
    </details>
  );
}

/** A call as the sender would make it. */
const firstEvent = (url: string, hasKey: boolean, { sample }: Sender) =>
  `curl ${url} \\\n${hasKey ? "  -H 'Authorization: Bearer KEY_OF_THE_SOURCE' \\\n" : ""}  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(sample)}'`;
