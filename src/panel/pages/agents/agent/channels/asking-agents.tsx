import { useAction } from "../../../../data/action.ts";
import { api } from "../../../../data/api.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { Failure } from "../../../../ui/note.tsx";

interface Props {
  slug: string;
  enabled: boolean;
  onChange: () => Promise<void>;
}

/** Whether other agents may ask this one. */
export function AskingAgents({ slug, enabled, onChange }: Props) {
  const turn = useAction(async () => {
    await api.putAgentChannel({ slug, type: "agent", body: { enabled: !enabled } });
    await onChange();
  });
  return (
    <Card
      title="Other agents"
      lead={
        enabled
          ? `Agents of this organization that have the tool agent:${slug} may ask this one.`
          : "Off: no other agent may ask this one."
      }
    >
      <Failure error={turn.error} />
      <Allowed to="agent.channel:write">
        <div class="actions">
          <Button busy={turn.busy} onClick={() => void turn.run()}>
            {enabled ? "Turn off" : "Turn on"}
          </Button>
        </div>
      </Allowed>
    </Card>
  );
}
