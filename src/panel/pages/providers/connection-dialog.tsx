import type { ProviderConnection } from "../../../client/index.ts";
import { useForm } from "../../data/form/form.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { connectionProviders, labelOfProvider, needsOf } from "../agents/providers.ts";
import type { ConnectionSource } from "./source.ts";

interface Values extends Pick<ProviderConnection, "provider" | "name" | "enabled" | "isDefault"> {
  /** Empty: the provider's own address. */
  baseUrl: string;
  /** Empty: none, or the stored one. */
  apiKey: string;
}

const blank: Values = {
  provider: "openai",
  name: labelOfProvider("openai"),
  enabled: true,
  isDefault: false,
  baseUrl: "",
  apiKey: "",
};

interface Props extends DialogProps {
  source: ConnectionSource;
  /** Null for a new connection. */
  connection: ProviderConnection | null;
}

/** Creates or changes a connection. Its key is not stored as a draft. */
export function ConnectionDialog({ source, connection, ...dialog }: Props) {
  const stored = connection ? { ...blank, ...connection, baseUrl: connection.baseUrl ?? "" } : blank;
  const { provider, name, enabled, isDefault, baseUrl, apiKey } = stored;
  const form = useForm<Values>(null, { provider, name, enabled, isDefault, baseUrl, apiKey }, async () => {
    const { baseUrl: address, apiKey: key, ...rest } = form.values;
    const body = { ...rest, baseUrl: address || null, ...(key && { apiKey: key }) };
    await (connection ? source.update(connection.id, body) : source.create(body));
  });
  const title = connection ? connection.name : "New connection";
  const fields = fieldsOf(form.values, connection, source.shared);
  return <FormDialog title={title} action={connection ? "Save" : "Create"} form={form} fields={fields} {...dialog} />;
}

function fieldsOf(values: Values, connection: ProviderConnection | null, shared: boolean): FieldTable<Values> {
  const { provider, name, baseUrl } = values;
  const needs = needsOf[provider];
  const hint = connection?.apiKeyHint ?? null;
  return [
    {
      name: "provider",
      label: "Provider",
      kind: "choice",
      choices: connectionProviders,
      shown: connection === null,
      // A name that a person typed stays.
      also: (chosen) => (name === labelOfProvider(provider) ? { name: labelOfProvider(chosen) } : {}),
    },
    { name: "name", label: "Name", required: true, maxLength: 64 },
    {
      name: "apiKey",
      label: "API key",
      kind: "secret",
      optional: hint !== null || needs.baseUrl || (provider === "openai" && baseUrl !== ""),
      placeholder: hint ?? "",
      hint: hint === null ? "Stored encrypted, and never shown again." : "Empty: the stored one.",
      shown: needs.key,
    },
    {
      name: "baseUrl",
      label: "Address of its API",
      type: "url",
      optional: !needs.baseUrl,
      required: needs.baseUrl,
      placeholder: provider === "ollama" ? "http://localhost:11434" : "https://models.example.com/v1",
      hint: hint === null ? undefined : "An address on another host deletes the stored key, unless you give one above.",
      shown: provider !== "demo",
    },
    { name: "enabled", label: "Enabled", hint: "A disabled connection answers no agent.", kind: "switch" },
    {
      name: "isDefault",
      label: "The organization's default",
      hint: "Answers for agents that bind no connection, instead of the default until now.",
      kind: "switch",
      shown: shared,
    },
  ];
}
