import { useSignal } from "@preact/signals";
import { useAction } from "../../../../data/action.ts";
import { giveKey } from "../../../../data/agent-key.ts";
import { api } from "../../../../data/api.ts";
import { Allowed } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { ConfirmButton } from "../../../../ui/dialog/confirm-button.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { ShownOnce } from "../../../../ui/shown-once.tsx";
import { tell, tellFailure } from "../../../../ui/toast.tsx";
import { FirstCalls } from "../../first-calls.tsx";
import type { TabProps } from "../tab-props.ts";

/** How programs reach the agent: its Web channel, its key, and a first call. */
export function Web({ agent, onChange }: Pick<TabProps, "agent" | "onChange">) {
  const { slug, webEnabled, authEnabled } = agent;
  const key = useSignal<string | null>(null);
  const renew = async () => {
    key.value = await giveKey(slug);
    await onChange();
  };
  const turnOn = useAction(renew);
  const turnOff = async () => {
    await api.deleteAgentChannel({ slug, type: "web" });
    tell("Web is off", () => {
      api.putAgentChannel({ slug, type: "web", body: { enabled: true, config: {} } }).then(onChange, tellFailure);
    });
    await onChange();
  };
  return (
    <Card
      title="Chat-completions API"
      lead={
        webEnabled
          ? `It answers as the model ${slug}${authEnabled ? ", with its key" : ", without a key"}.`
          : "It is off: calls get 404 Unknown model."
      }
    >
      {key.value !== null && <ShownOnce label="Key of the agent" text={key.value} />}
      <FirstCalls slug={slug} apiKey={key.value ?? "AGENT_API_KEY"} />
      <Allowed to="agent.channel:write">
        <div class="actions">
          {webEnabled ? (
            <>
              <ConfirmButton
                label="New key"
                title="Give the agent a new key?"
                action="Give a new key"
                onConfirm={renew}
              >
                Programs with the present key are refused from then on.
              </ConfirmButton>
              <Button look="danger" onClick={() => turnOff().catch(tellFailure)}>
                Turn off
              </Button>
            </>
          ) : (
            <Button look="primary" busy={turnOn.busy} onClick={turnOn.run}>
              Turn on with a new key
            </Button>
          )}
        </div>
      </Allowed>
      <Failure error={turnOn.error} />
    </Card>
  );
}
