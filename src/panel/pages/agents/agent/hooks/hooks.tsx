import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { ActButton } from "../../../../ui/act-button.tsx";
import { Button } from "../../../../ui/button.tsx";
import { ConfirmButton } from "../../../../ui/dialog/buttons.tsx";
import { List } from "../../../../ui/list/list.tsx";
import type { TabProps } from "../tab-props.ts";
import { HookDialog, labelOf } from "./hook-dialog.tsx";

/** The tool calls around every reply. */
export function Hooks({ agent: { slug } }: TabProps) {
  const hooks = useList("hooks", () => api.listHooks({ slug }), [slug]);
  return (
    <div class="form">
      <List
        of={hooks}
        empty={[
          "No hooks yet",
          "A hook calls a tool around every reply: to look something up before the model answers, to check what it said, or to tell another system. The model can't forget it.",
        ]}
        add={{ label: "New hook", to: "agent.governance:write" }}
        dialog={(hook, props) => <HookDialog slug={slug} hook={hook} {...props} />}
        label="Hooks"
        keyOf={({ id }) => id}
        about={({ event, mutates }) => `${labelOf(event)}${mutates ? ", and its answer becomes the reply" : ""}`}
        columns={[
          { title: "Tool", cell: ({ actionConfig }) => <code>{actionConfig.toolName}</code> },
          { title: "Order", end: true, cell: ({ position }) => position },
          {
            title: "State",
            cell: ({ enabled }) => <span class={enabled ? "badge good" : "badge"}>{enabled ? "on" : "off"}</span>,
          },
        ]}
        actionsTo="agent.governance:write"
        actions={(hook, edit) => (
          <>
            <Button small look="plain" onClick={() => edit(hook)}>
              Edit
            </Button>
            <ActButton
              small
              look="plain"
              work={() => api.updateHook({ slug, id: hook.id, body: { enabled: !hook.enabled } })}
              said={hook.enabled ? "The hook is off" : "The hook is on"}
              onDone={hooks.reload}
            >
              {hook.enabled ? "Turn off" : "Turn on"}
            </ActButton>
            <ConfirmButton
              small
              label="Delete"
              title="Delete the hook?"
              action="Delete the hook"
              onConfirm={() => api.deleteHook({ slug, id: hook.id })}
              said="The hook is deleted"
              onDone={hooks.reload}
            >
              {hook.actionConfig.toolName} is not called any more around replies.
            </ConfirmButton>
          </>
        )}
      />
    </div>
  );
}
