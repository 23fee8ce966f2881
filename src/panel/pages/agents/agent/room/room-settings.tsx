import type { ConfiguredRoom } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useAction } from "../../../../data/form/action.ts";
import { useForm } from "../../../../data/form/form.ts";
import { useLoaded } from "../../../../data/list/load.ts";
import { hrefOf } from "../../../../data/route.ts";
import { Allowed, Changeable } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { ConfirmButton } from "../../../../ui/dialog/buttons.tsx";
import { type FieldTable, SaveForm } from "../../../../ui/form/form.tsx";
import { Empty, WhenLoaded } from "../../../../ui/list/when-loaded.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { outboundFields } from "../outbound.ts";

/** Whether the agent works on its own, and its instructions for that. */
export function RoomSettings({ slug }: { slug: string }) {
  const room = useLoaded(() => api.getRoom({ slug }), [slug]);
  const props = { slug, onChange: room.reload };
  return (
    <WhenLoaded of={room}>
      {(read) => (read.configured ? <RoomForm {...props} room={read} /> : <NoRoom {...props} />)}
    </WhenLoaded>
  );
}

interface Props {
  slug: string;
  onChange: () => Promise<void>;
}

function NoRoom({ slug, onChange }: Props) {
  const open = useAction(async () => {
    await api.setRoom({ slug, body: { enabled: true } });
    tell("The Room is open");
    await onChange();
  });
  return (
    <Empty title="The agent has no Room yet">
      <p>
        In its Room an agent works on its own: other systems post events, the agent decides which of them matter, works
        them off, and writes to people over its channels.
      </p>
      <Failure error={open.error} />
      <Allowed to="agent.room:write">
        <Button look="primary" busy={open.busy} onClick={() => void open.run()}>
          Open the Room
        </Button>
      </Allowed>
    </Empty>
  );
}

function RoomForm({ slug, room, onChange }: Props & { room: ConfiguredRoom }) {
  const { enabled, prompt, outboundChannel, outboundTarget, evalIntervalMinutes } = room;
  const stored = { enabled, prompt, outboundChannel, outboundTarget, evalIntervalMinutes };
  const form = useForm(`room.${slug}`, stored, async (body) => {
    await api.setRoom({ slug, body });
    await onChange();
  });
  const run = useAction(async () => {
    await api.runRoom({ slug });
    tell("A turn of the Room is queued");
  });
  const fields: FieldTable<typeof stored> = [
    {
      title: "What it does on its own",
      fields: [
        {
          name: "enabled",
          label: "Works on its own",
          hint: "While it is off, the agent takes no turns here, and no event is kept for it.",
          kind: "switch",
        },
        {
          name: "prompt",
          label: "What the agent is to do",
          optional: true,
          hint: "Told to it in each of its turns here. Without it the agent takes turns for events only.",
          kind: "area",
          rows: 6,
        },
        {
          name: "evalIntervalMinutes",
          label: "Without events, every so many minutes",
          hint: "0: never. It needs something to do, above.",
          kind: "number",
        },
        outboundFields(form.values),
      ],
    },
  ];
  return (
    <>
      <p class="soft">
        {room.pendingEventCount === 0 ? "Nothing waits." : `${room.pendingEventCount} events wait.`}{" "}
        <a href={hrefOf(["conversations", room.conversationId])}>Read what the agent did in its Room</a>
      </p>
      <Changeable to="agent.room:write">
        <SaveForm form={form} fields={fields} />
        <Failure error={run.error} />
        <Allowed to="agent.room:write">
          <div class="actions">
            <Button busy={run.busy} onClick={() => void run.run()}>
              Take a turn now
            </Button>
            <ConfirmButton
              label="Close the Room"
              title="Close the Room?"
              action="Close the Room"
              word={slug}
              onConfirm={() => api.deleteRoom({ slug })}
              said="The Room is closed"
              onDone={onChange}
            >
              What waits in the backlog is discarded. Sources and their definitions stay, and what comes meanwhile is
              only written down.
            </ConfirmButton>
          </div>
        </Allowed>
      </Changeable>
    </>
  );
}
