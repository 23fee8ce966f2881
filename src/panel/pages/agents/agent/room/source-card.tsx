import { useSignal } from "@preact/signals";
import type { EventDefinition, EventSource } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { hrefOf } from "../../../../data/route.ts";
import { may } from "../../../../data/session.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { ConfirmButton, DeleteButton, DialogButton } from "../../../../ui/dialog/buttons.tsx";
import { Table } from "../../../../ui/list/table.tsx";
import { Failure, Note } from "../../../../ui/note.tsx";
import { Code } from "../../../../ui/text/code.tsx";
import { DefinitionDialog } from "./definition-dialog.tsx";
import { DryRunDialog } from "./dry-run.tsx";
import { type Sender, senderOf } from "./senders.tsx";
import { SourceDialog } from "./source-dialog.tsx";
import { isThisMachine } from "./this-machine.ts";

interface Props {
  slug: string;
  source: EventSource;
  onChange: () => Promise<void>;
}

/** A source: its address, the definitions of its events, and a dry run. */
export function SourceCard({ slug, source, onChange }: Props) {
  const { id, name, sourceType, enabled, webhookUrl, authKeyConfigured, definitions } = source;
  const path = { slug, id };
  const sender = senderOf(sourceType);
  const act = useActs(onChange);
  const turn = () => api.updateEventSource({ ...path, body: { enabled: !enabled } });
  /** The definition in the open dialog; null: a new one; undefined: no dialog. */
  const edited = useSignal<EventDefinition | null | undefined>(undefined);
  const edit = (definition: EventDefinition | null | undefined) => {
    edited.value = definition;
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
      {definitions.length === 0 ? (
        <Note look="warn">Nothing says yet which of its events matter, so none of them is handled.</Note>
      ) : (
        <Table
          label="Definitions"
          rows={definitions}
          keyOf={(definition) => definition.id}
          about={({ matchingPrompt }) => matchingPrompt}
          columns={[
            { title: "Definition", cell: (definition) => definition.name },
            {
              title: "What is done",
              cell: ({ action }) => (action === "conversation" ? "a conversation at once" : "into the backlog"),
            },
            {
              title: "State",
              cell: (definition) => (
                <span class={definition.enabled ? "badge good" : "badge"}>{definition.enabled ? "on" : "off"}</span>
              ),
            },
          ]}
          actionsTo="agent.room:write"
          actions={(definition) => (
            <>
              <Button small look="plain" onClick={() => edit(definition)}>
                Edit
              </Button>
              <DeleteButton
                small
                name={definition.name}
                kind="definition"
                onConfirm={() => api.deleteEventDefinition({ ...path, definitionId: definition.id })}
                onDone={onChange}
              >
                Events that it was about are not handled any more.
              </DeleteButton>
            </>
          )}
        />
      )}
      <Failure error={act.error} />
      <Allowed to="agent.room:write">
        <div class="actions">
          <Button small look={definitions.length === 0 ? "primary" : undefined} onClick={() => edit(null)}>
            New definition
          </Button>
          <DialogButton small dialog={(onClose) => <DryRunDialog {...{ path, sender, definitions, onClose }} />}>
            Try an event
          </DialogButton>
          <DialogButton small dialog={(onClose) => <SourceDialog {...{ slug, source, onClose }} onSaved={onChange} />}>
            Edit
          </DialogButton>
          <Button small busy={act.busy} onClick={() => void act.run(turn, `${name} is ${enabled ? "off" : "on"}`)}>
            {enabled ? "Turn off" : "Turn on"}
          </Button>
          <ConfirmButton
            small
            label="Another address"
            title={`Give ${name} another address?`}
            action="Give another address"
            onConfirm={() => api.rotateEventSourceToken(path)}
            said="The source has another address"
            onDone={onChange}
          >
            Calls to the present one are unknown at once. Tell the sender the new one.
          </ConfirmButton>
          <DeleteButton small name={name} kind="source" onConfirm={() => api.deleteEventSource(path)} onDone={onChange}>
            Its address and its definitions go. Events that came stay in the ledger.
          </DeleteButton>
        </div>
      </Allowed>
      {edited.value !== undefined && (
        <DefinitionDialog
          {...{ path, sender }}
          definition={edited.value}
          onSaved={onChange}
          onClose={() => edit(undefined)}
        />
      )}
    </Card>
  );
}

/** The address for a source's events, with a warning when other machines can't reach it. */
const Address = ({ url }: { url: string }) => (
  <>
    <Code label="Address for its events" text={url} />
    {isThisMachine(url) && (
      <Note look="warn">
        <p>
          Only programs on this machine reach this address. For others,{" "}
          {may("policy:manage") ? <a href={hrefOf(["policies"])}>the public address</a> : "the public address"} of this
          installation must be set.
        </p>
      </Note>
    )}
  </>
);

/** The steps in the sending system, if they are known. */
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

/** A request with an event, as the sender would send it. */
const firstEvent = (url: string, hasKey: boolean, { sample }: Sender) =>
  `curl ${url} \\\n${hasKey ? "  -H 'Authorization: Bearer KEY_OF_THE_SOURCE' \\\n" : ""}  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(sample)}'`;
