import { useSignal } from "@preact/signals";
import type { Hook } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useLoaded } from "../../../../data/load.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { ConfirmButton } from "../../../../ui/dialog/confirm-button.tsx";
import { Empty } from "../../../../ui/empty.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { Table } from "../../../../ui/table.tsx";
import { tell, tellFailure } from "../../../../ui/toast.tsx";
import { Waiting } from "../../../../ui/waiting.tsx";
import type { TabProps } from "../tab-props.ts";
import { labelOf } from "./events.ts";
import { HookDialog } from "./hook-dialog.tsx";

/** The tools that are called around every reply. */
export function Hooks({ agent: { slug } }: TabProps) {
  const { value, error, reload } = useLoaded(async () => (await api.listHooks({ slug })).hooks, [slug]);
  /** The hook that is edited; null: a new one; undefined: none is. */
  const edited = useSignal<Hook | null | undefined>(undefined);
  const hooks = value.value;
  const add = (
    <Allowed to="agent.governance:write">
      <Button
        look="primary"
        onClick={() => {
          edited.value = null;
        }}
      >
        New hook
      </Button>
    </Allowed>
  );
  return (
    <div class="form">
      <Failure error={error.value} retry={reload} />
      {!hooks && error.value === undefined && <Waiting />}
      {hooks?.length === 0 && (
        <Empty title="No hooks yet">
          <p>
            A hook calls a tool around every reply: to look something up before the model answers, to check what it
            said, or to tell another system. The model can't forget it.
          </p>
          {add}
        </Empty>
      )}
      {hooks && hooks.length > 0 && (
        <>
          <div class="actions">{add}</div>
          <HookTable
            slug={slug}
            hooks={hooks}
            onEdit={(hook) => {
              edited.value = hook;
            }}
            onChange={reload}
          />
        </>
      )}
      {edited.value !== undefined && (
        <HookDialog
          slug={slug}
          hook={edited.value}
          onSaved={reload}
          onClose={() => {
            edited.value = undefined;
          }}
        />
      )}
    </div>
  );
}

interface TableProps {
  slug: string;
  hooks: readonly Hook[];
  onEdit: (hook: Hook) => void;
  onChange: () => Promise<void>;
}

function HookTable({ slug, hooks, onEdit, onChange }: TableProps) {
  const turn = async ({ id, enabled }: Hook) => {
    await api.updateHook({ slug, id, body: { enabled: !enabled } });
    tell(enabled ? "The hook is off" : "The hook is on");
    await onChange();
  };
  const remove = async ({ id }: Hook) => {
    await api.deleteHook({ slug, id });
    tell("The hook is deleted");
    await onChange();
  };
  return (
    <Table
      label="Hooks"
      rows={hooks}
      keyOf={({ id }) => id}
      about={({ event, mutates }) => `${labelOf(event)}${mutates ? ", and its answer becomes the reply" : ""}`}
      columns={[
        { title: "Tool", cell: ({ actionConfig }) => <code>{actionConfig.toolName}</code> },
        { title: "Order", end: true, cell: ({ position }) => position },
        {
          title: "State",
          cell: ({ enabled }) => <span class={enabled ? "badge good" : "badge"}>{enabled ? "on" : "off"}</span>,
        },
        {
          title: "Actions",
          end: true,
          cell: (hook) => (
            <Allowed to="agent.governance:write">
              <div class="actions">
                <Button small look="plain" onClick={() => onEdit(hook)}>
                  Edit
                </Button>
                <Button small look="plain" onClick={() => void turn(hook).catch(tellFailure)}>
                  {hook.enabled ? "Turn off" : "Turn on"}
                </Button>
                <ConfirmButton
                  small
                  label="Delete"
                  title="Delete the hook?"
                  action="Delete the hook"
                  onConfirm={() => remove(hook)}
                >
                  {hook.actionConfig.toolName} is not called any more around replies.
                </ConfirmButton>
              </div>
            </Allowed>
          ),
        },
      ]}
    />
  );
}
