import { useSignal } from "@preact/signals";
import type { WebConfig } from "../../../../../client/index.ts";
import { giveKey } from "../../../../data/agents.ts";
import { api } from "../../../../data/api.ts";
import { useAction } from "../../../../data/form/action.ts";
import { useForm } from "../../../../data/form/form.ts";
import { Allowed, Changeable } from "../../../../ui/allowed.tsx";
import { Button } from "../../../../ui/button.tsx";
import { Card } from "../../../../ui/card.tsx";
import { ConfirmButton } from "../../../../ui/dialog/buttons.tsx";
import { type FieldTable, SaveForm } from "../../../../ui/form/form.tsx";
import { Failure } from "../../../../ui/note.tsx";
import { ShownOnce } from "../../../../ui/text/shown-once.tsx";
import { tell, tellFailure } from "../../../../ui/toast.tsx";
import { FirstCalls } from "../../first-calls.tsx";
import type { TabProps } from "../tab-props.ts";
import { mappingIn, mappingText } from "./context-mapping.ts";

/** The agent's Web channel, its key, and a first request. */
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

interface Props {
  slug: string;
  config: WebConfig;
  onChange: () => Promise<void>;
}

interface WebInput extends Pick<WebConfig, "requireAuthentication"> {
  /** One origin in each line. */
  allowedOrigins: string;
  contextMapping: string;
}

const fields: FieldTable<WebInput> = [
  {
    name: "requireAuthentication",
    label: "Calls need the agent's key",
    path: "config.requireAuthentication",
    hint: "Without it anybody who reaches the server talks to the agent, at your cost.",
    kind: "switch",
  },
  {
    name: "allowedOrigins",
    label: "Origins whose pages may call it from a browser",
    path: "config.allowedOrigins",
    optional: true,
    hint: "One a line; * alone for any.",
    kind: "area",
    rows: 2,
    placeholder: "https://www.example.com",
  },
  {
    name: "contextMapping",
    label: "What a call may tell of its context",
    path: "config.contextMapping",
    optional: true,
    hint: "One a line: a name in the conversation's state, and the path in the call's context. It needs the key.",
    kind: "area",
    rows: 2,
    placeholder: "customerId = customer.id",
  },
];

/** The settings of the Web channel: who may call the chat-completions API, and the context of a request. */
export function WebSettings({ slug, config, onChange }: Props) {
  const { requireAuthentication, allowedOrigins, contextMapping } = config;
  const stored = {
    requireAuthentication,
    allowedOrigins: allowedOrigins.join("\n"),
    contextMapping: mappingText(contextMapping),
  };
  const form = useForm<WebInput>(
    `web.${slug}`,
    stored,
    async ({ allowedOrigins: origins, contextMapping: mapping, ...others }) => {
      const body = {
        ...others,
        ...(origins === undefined ? {} : { allowedOrigins: origins.split(/\s+/).filter((origin) => origin !== "") }),
        ...(mapping === undefined ? {} : { contextMapping: mappingIn(mapping) }),
      };
      await api.putAgentChannel({ slug, type: "web", body: { config: body } });
      await onChange();
    },
  );
  return (
    <Card title="Who may call it">
      <Changeable to="agent.channel:write">
        <SaveForm form={form} fields={fields} />
      </Changeable>
    </Card>
  );
}
