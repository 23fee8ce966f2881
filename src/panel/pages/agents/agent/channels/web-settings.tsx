import type { WebConfig } from "../../../../../client/index.ts";
import { api, problemsOf } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form.ts";
import { Changeable } from "../../../../ui/allowed.tsx";
import { Card } from "../../../../ui/card.tsx";
import { Switch, TextArea } from "../../../../ui/form/field.tsx";
import { SaveForm } from "../../../../ui/form/save-form.tsx";
import { mappingIn, mappingText } from "./context-mapping.ts";

interface Props {
  slug: string;
  config: WebConfig;
  onChange: () => Promise<void>;
}

/** Who may call the agent over the chat-completions API, and what a call may bring along. */
export function WebSettings({ slug, config, onChange }: Props) {
  const { requireAuthentication, allowedOrigins, contextMapping } = config;
  const stored = {
    requireAuthentication,
    allowedOrigins: allowedOrigins.join("\n"),
    contextMapping: mappingText(contextMapping),
  };
  const form = useForm(
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
  const { values, set } = form;
  const problems = problemsOf(form.error);
  return (
    <Card title="Who may call it">
      <Changeable to="agent.channel:write">
        <SaveForm form={form}>
          <Switch
            label="Calls need the agent's key"
            hint="Without it anybody who reaches the server talks to the agent, at your cost."
            checked={values.requireAuthentication}
            onChecked={(required) => set({ requireAuthentication: required })}
          />
          <TextArea
            label="Origins whose pages may call it from a browser"
            optional
            rows={2}
            placeholder="https://www.example.com"
            hint="One a line; * alone for any."
            value={values.allowedOrigins}
            problem={problems.get("config.allowedOrigins")}
            onValue={(text) => set({ allowedOrigins: text })}
          />
          <TextArea
            label="What a call may tell of its context"
            optional
            rows={2}
            placeholder="customerId = customer.id"
            hint="One a line: a name in the conversation's state, and the path in the call's context. It needs the key."
            value={values.contextMapping}
            problem={problems.get("config.contextMapping")}
            onValue={(text) => set({ contextMapping: text })}
          />
        </SaveForm>
      </Changeable>
    </Card>
  );
}
