import type { Plugin } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useForm } from "../../data/form/form.ts";
import { orgSlug } from "../../data/session.ts";
import { choicesOf } from "../../ui/form/choices.ts";
import { type DialogProps, type FieldTable, FormDialog } from "../../ui/form/form.tsx";
import { tell } from "../../ui/toast.tsx";
import { blank, type PluginInput, settingsOf, written } from "./settings.ts";

interface Props extends DialogProps {
  /** Null for a new plugin. */
  plugin: Plugin | null;
}

/** Adds or edits an MCP server. Its settings may be credentials, so they are not stored as a draft. */
export function PluginDialog({ plugin, ...dialog }: Props) {
  const form = useForm<PluginInput>(null, plugin ? written(plugin) : blank, async () => {
    const body = settingsOf(form.values);
    const saved = await api.putPlugin({ orgSlug: orgSlug.value, namespace: form.values.namespace, body });
    const count = saved.plugin.tools.length;
    tell(saved.plugin.status === "connected" ? `Connected: ${count} tools` : "Saved");
  });
  return (
    <FormDialog
      title={plugin ? `Edit ${plugin.namespace}` : "Add an MCP server"}
      action="Save"
      working="Asking the server…"
      form={form}
      fields={fieldsOf(form.values, plugin === null)}
      {...dialog}
    />
  );
}

const kept = "Stored values show as •••• and stay when you leave them so.";

function fieldsOf({ transport: { type } }: PluginInput, isNew: boolean): FieldTable<PluginInput> {
  const [http, stdio] = [{ shown: type === "http" }, { shown: type === "stdio" }];
  return [
    {
      name: "namespace",
      label: "Namespace",
      hint: "Its tools are called by it, such as linear:createIssue.",
      required: true,
      autofocus: true,
      autocapitalize: "none",
      spellcheck: false,
      shown: isNew,
    },
    {
      name: "transport.type",
      label: "Reached",
      hint: type === "stdio" ? "Only where the operator set ALLOW_STDIO_MCP=true." : undefined,
      kind: "choice",
      choices: choicesOf({ http: "Over HTTP, at an address", stdio: "As a program that the server starts" }),
    },
    { name: "transport.url", label: "Address", type: "url", required: true, ...http },
    {
      name: "transport.headers",
      label: "Headers",
      optional: true,
      placeholder: "Authorization: Bearer …",
      hint: `One a line. ${kept}`,
      kind: "area",
      ...http,
    },
    { name: "transport.command", label: "Command", required: true, ...stdio },
    { name: "transport.args", label: "Arguments", optional: true, hint: "One a line.", kind: "area", ...stdio },
    {
      name: "transport.env",
      label: "Environment",
      optional: true,
      placeholder: "TOKEN=…",
      hint: `One a line. ${kept}`,
      kind: "area",
      ...stdio,
    },
  ];
}
