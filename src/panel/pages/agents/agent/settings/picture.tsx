import { useRef } from "preact/hooks";
import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { tell } from "../../../../ui/toast.tsx";
import { AgentIcon } from "../../icon.tsx";
import type { TabProps } from "../tab-props.ts";

/** The agent's picture, to choose and to remove. */
export function Picture({ agent, onChange }: Pick<TabProps, "agent" | "onChange">) {
  const { slug, icon } = agent;
  const input = useRef<HTMLInputElement>(null);
  const act = useAction(async (work: () => Promise<unknown>, done: string) => {
    await work();
    tell(done);
    await onChange();
  });
  return (
    <Card title="Picture" lead="PNG, JPEG or WebP, at most 512 KiB.">
      <div class="actions">
        <AgentIcon agent={agent} />
        <input
          ref={input}
          type="file"
          class="unseen"
          tabIndex={-1}
          aria-label="File with the picture"
          accept="image/png,image/jpeg,image/webp"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            event.currentTarget.value = "";
            if (file) void act.run(() => api.putAgentIcon({ slug, body: file }), "The picture is there");
          }}
        />
        <Button busy={act.busy} onClick={() => input.current?.click()}>
          {icon === null ? "Choose a picture" : "Another picture"}
        </Button>
        {icon !== null && (
          <Button busy={act.busy} onClick={() => void act.run(() => api.deleteAgentIcon({ slug }), "Removed")}>
            Remove
          </Button>
        )}
      </div>
      <Failure error={act.error} />
    </Card>
  );
}
