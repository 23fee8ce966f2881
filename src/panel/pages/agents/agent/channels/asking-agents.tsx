import { api } from "../../../../data/api.ts";
import { useActs } from "../../../../ui/act-button.tsx";
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
  const act = useActs(onChange);
  const turn = () => api.putAgentChannel({ slug, type: "agent", body: { enabled: !enabled } });
  return (
    <Card
      title="Other agents"
      lead={
        enabled
          ? `Agents of this organization that have the tool agent:${slug} may ask this one.`
          : "Off: no other agent may ask this one."
      }
    >
      <Failure error={act.error} />
      <Allowed to="agent.channel:write">
        <div class="actions">
          <Button busy={act.busy} onClick={() => void act.run(turn)}>
            {enabled ? "Turn off" : "Turn on"}
          </Button>
        </div>
      </Allowed>
    </Card>
  );
}
