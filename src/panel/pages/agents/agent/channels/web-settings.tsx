import type { WebConfig } from "../../../../../client/index.ts";
import { api } from "../../../../data/api.ts";
import { useForm } from "../../../../data/form.ts";
import { Changeable } from "../../../../ui/allowed.tsx";
import { Card } from "../../../../ui/card.tsx";
import { SaveForm } from "../../../../ui/form/form.tsx";
import type { FieldTable } from "../../../../ui/form/table.ts";
import { mappingIn, mappingText } from "./context-mapping.ts";

interface Props {
  slug: string;
  config: WebConfig;
  onChange: () => Promise<void>;
}

interface Written extends Pick<WebConfig, "requireAuthentication"> {
  /** One a line. */
  allowedOrigins: string;
  contextMapping: string;
}

const fields: FieldTable<Written> = [
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

/** Who may call the agent over the chat-completions API, and what a call may bring along. */
export function WebSettings({ slug, config, onChange }: Props) {
  const { requireAuthentication, allowedOrigins, contextMapping } = config;
  const stored = {
    requireAuthentication,
    allowedOrigins: allowedOrigins.join("\n"),
    contextMapping: mappingText(contextMapping),
  };
  const form = useForm<Written>(
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
