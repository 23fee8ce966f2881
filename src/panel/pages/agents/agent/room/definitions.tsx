import type { EventDefinition } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { ConfirmButton } from "../../../../ui/dialog/confirm-button.tsx";
import { Table } from "../../../../ui/table.tsx";
import { tell } from "../../../../ui/toast.tsx";

interface Props {
  /** Of the source. */
  path: { slug: string; id: string };
  definitions: readonly EventDefinition[];
  onEdit: (definition: EventDefinition) => void;
  onChange: () => Promise<void>;
}

/** Which events of a source matter, in the order of asking; nothing while there is none. */
export function Definitions({ path, definitions, onEdit, onChange }: Props) {
  if (definitions.length === 0) return null;
  const remove = async ({ id, name }: EventDefinition) => {
    await api.deleteEventDefinition({ ...path, definitionId: id });
    tell(`${name} is deleted`);
    await onChange();
  };
  return (
    <Table
      label="Definitions"
      rows={definitions}
      keyOf={({ id }) => id}
      about={({ matchingPrompt }) => matchingPrompt}
      columns={[
        { title: "Definition", cell: ({ name }) => name },
        {
          title: "What is done",
          cell: ({ action }) => (action === "conversation" ? "a conversation at once" : "into the backlog"),
        },
        {
          title: "State",
          cell: ({ enabled }) => <span class={enabled ? "badge good" : "badge"}>{enabled ? "on" : "off"}</span>,
        },
        {
          title: "Actions",
          end: true,
          cell: (definition) => (
            <Allowed to="agent.room:write">
              <div class="actions">
                <Button small look="plain" onClick={() => onEdit(definition)}>
                  Edit
                </Button>
                <ConfirmButton
                  small
                  label="Delete"
                  title={`Delete ${definition.name}?`}
                  action="Delete the definition"
                  onConfirm={() => remove(definition)}
                >
                  Events that it was about are not handled any more.
                </ConfirmButton>
              </div>
            </Allowed>
          ),
        },
      ]}
    />
  );
}
