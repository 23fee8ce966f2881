import type { Plugin } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { orgSlug } from "../../data/session.ts";
import { useActs } from "../../ui/act-button.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Cause } from "../../ui/cause.tsx";
import { DeleteButton } from "../../ui/dialog/confirm-button.tsx";
import { Facts } from "../../ui/facts.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { asSettings } from "./settings.ts";

interface Props {
  plugin: Plugin;
  onEdit: () => void;
  onChange: () => Promise<void>;
}

/** An MCP server: how it is, its tools, and what can be done about it. */
export function PluginCard({ plugin, onEdit, onChange }: Props) {
  const { namespace, transport, enabled, lastError, tools } = plugin;
  const path = { orgSlug: orgSlug.value, namespace };
  const act = useActs(onChange);
  const turn = () => api.putPlugin({ ...path, body: { ...asSettings(plugin), enabled: !enabled } });
  return (
    <Card
      title={namespace}
      lead={
        <>
          <State plugin={plugin} /> <code>{transport.type === "http" ? transport.url : transport.command}</code>
        </>
      }
    >
      {enabled && lastError !== null && (
        <Note look="bad">
          <p>
            <Cause text={lastError} />
          </p>
        </Note>
      )}
      {tools.length > 0 && (
        <details class="step">
          <summary>{tools.length === 1 ? "1 tool" : `${tools.length} tools`}</summary>
          <Facts of={tools.map(({ name, description }) => [<code>{name}</code>, description])} />
        </details>
      )}
      <Failure error={act.error} />
      <div class="actions">
        {enabled && (
          <Button small busy={act.busy} onClick={() => void act.run(() => api.refreshPlugin(path))}>
            {act.busy ? "Asking the server…" : "List its tools again"}
          </Button>
        )}
        <Button small onClick={onEdit}>
          Edit
        </Button>
        <Button small busy={act.busy} onClick={() => void act.run(turn)}>
          {enabled ? "Turn off" : "Turn on"}
        </Button>
        <DeleteButton small name={namespace} kind="server" onConfirm={() => api.deletePlugin(path)} onDone={onChange}>
          Agents lose its tools, and its stored credentials are gone.
        </DeleteButton>
      </div>
    </Card>
  );
}

const looks = { connected: "good", failed: "bad", disabled: "", unknown: "warn" } as const;
const words = { connected: "connected", failed: "failed", disabled: "off", unknown: "not asked yet" } as const;

const State = ({ plugin: { status } }: { plugin: Plugin }) => (
  <span class={`badge ${looks[status]}`}>{words[status]}</span>
);
