import { useSignal } from "@preact/signals";
import type { Plugin } from "../../../client/index.ts";
import { useAction } from "../../data/action.ts";
import { api, problemsOf } from "../../data/api.ts";
import { orgSlug } from "../../data/session.ts";
import { FormDialog } from "../../ui/dialog/form-dialog.tsx";
import { Choice, TextArea, TextField } from "../../ui/form/field.tsx";
import { tell } from "../../ui/toast.tsx";
import { blank, settingsOf, type Written, written } from "./settings.ts";

interface Props {
  /** Null: a new one. */
  plugin: Plugin | null;
  onSaved: () => void;
  onClose: () => void;
}

/** Adds or edits an MCP server. What is written may be a credential, so that no draft of it is kept. */
export function PluginDialog({ plugin, onSaved, onClose }: Props) {
  const values = useSignal<Written>(plugin ? written(plugin) : blank);
  const set = (changes: Partial<Written>) => {
    values.value = { ...values.value, ...changes };
  };
  const save = useAction(async () => {
    const { namespace } = values.value;
    const body = settingsOf(values.value);
    const saved = await api.putPlugin({ orgSlug: orgSlug.value, namespace, body });
    const count = saved.plugin.tools.length;
    tell(saved.plugin.status === "connected" ? `Connected: ${count} tools` : "Saved");
    onSaved();
    onClose();
  });
  const problems = problemsOf(save.error);
  const { namespace, type } = values.value;
  return (
    <FormDialog
      title={plugin ? `Edit ${plugin.namespace}` : "Add an MCP server"}
      action="Save"
      working="Asking the server…"
      state={save}
      onSubmit={() => void save.run()}
      onClose={onClose}
    >
      {!plugin && (
        <TextField
          label="Namespace"
          hint="Its tools are called by it, such as linear:createIssue."
          required
          autofocus
          autocapitalize="none"
          spellcheck={false}
          value={namespace}
          problem={problems.get("namespace")}
          onValue={(text) => set({ namespace: text })}
        />
      )}
      <Choice
        label="Reached"
        value={type}
        choices={[
          { value: "http", label: "Over HTTP, at an address" },
          { value: "stdio", label: "As a program that the server starts" },
        ]}
        hint={type === "stdio" ? "Only where the operator set ALLOW_STDIO_MCP=true." : undefined}
        onValue={(way) => set({ type: way as Written["type"] })}
      />
      {type === "http" ? (
        <Http values={values.value} problems={problems} set={set} />
      ) : (
        <Stdio values={values.value} problems={problems} set={set} />
      )}
    </FormDialog>
  );
}

interface TransportProps {
  values: Written;
  problems: ReadonlyMap<string, string>;
  set: (changes: Partial<Written>) => void;
}

const kept = "Stored values show as •••• and stay when you leave them so.";

const Http = ({ values, problems, set }: TransportProps) => (
  <>
    <TextField
      label="Address"
      type="url"
      required
      value={values.url}
      problem={problems.get("transport.url")}
      onValue={(url) => set({ url })}
    />
    <TextArea
      label="Headers"
      optional
      placeholder="Authorization: Bearer …"
      hint={`One a line. ${kept}`}
      value={values.headers}
      problem={problems.get("transport.headers")}
      onValue={(headers) => set({ headers })}
    />
  </>
);

const Stdio = ({ values, problems, set }: TransportProps) => (
  <>
    <TextField
      label="Command"
      required
      value={values.command}
      problem={problems.get("transport.command")}
      onValue={(command) => set({ command })}
    />
    <TextArea
      label="Arguments"
      optional
      hint="One a line."
      value={values.args}
      problem={problems.get("transport.args")}
      onValue={(args) => set({ args })}
    />
    <TextArea
      label="Environment"
      optional
      placeholder="TOKEN=…"
      hint={`One a line. ${kept}`}
      value={values.env}
      problem={problems.get("transport.env")}
      onValue={(env) => set({ env })}
    />
  </>
);
