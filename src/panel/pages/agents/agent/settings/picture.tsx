import { api } from "../../../../data/api.ts";
import { useActs } from "../../../../ui/act-button.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { FileButton } from "../../../../ui/file-button.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { AgentIcon } from "../../look.tsx";
import type { TabProps } from "../tab-props.ts";

/** The agent's picture, to choose and to remove. */
export function Picture({ agent, onChange }: Pick<TabProps, "agent" | "onChange">) {
  const { slug, icon } = agent;
  const act = useActs(onChange);
  return (
    <Card title="Picture" lead="PNG, JPEG or WebP, at most 512 KiB.">
      <div class="actions">
        <AgentIcon agent={agent} />
        <FileButton
          label="File with the picture"
          accept="image/png,image/jpeg,image/webp"
          busy={act.busy}
          onFile={(file) => void act.run(() => api.putAgentIcon({ slug, body: file }), "The picture is there")}
        >
          {icon === null ? "Choose a picture" : "Another picture"}
        </FileButton>
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
