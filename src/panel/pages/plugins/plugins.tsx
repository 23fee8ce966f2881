import type { Plugin } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/list/list.ts";
import { hasFeature, orgSlug } from "../../data/session.ts";
import { useActs } from "../../ui/act-button.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { DeleteButton } from "../../ui/dialog/buttons.tsx";
import { Facts } from "../../ui/facts.tsx";
import { ListPage } from "../../ui/list/list.tsx";
import { Failure, Note } from "../../ui/note.tsx";
import { Cause } from "../../ui/text/cause.tsx";
import { Packages } from "./packages.tsx";
import { PluginDialog } from "./plugin-dialog.tsx";
import { asSettings } from "./settings.ts";

/** The organization's MCP servers, whose tools agents can use. */
export function PluginsPage() {
  const slug = orgSlug.value;
  const plugins = useList("plugins", () => api.listPlugins({ orgSlug: slug }), [slug]);
  return (
    <ListPage
      title="Plugins"
      lead="MCP servers bring further tools. Which of them an agent has is chosen with the agent's tools."
      head={hasFeature("administration") && <Packages />}
      of={plugins}
      empty={["No MCP servers yet", "Many services offer one: its address and a token are all that is needed."]}
      add={{ label: "Add an MCP server" }}
      dialog={(plugin, props) => <PluginDialog plugin={plugin} {...props} />}
    >
      {(items, edit) =>
        items.map((plugin) => (
          <PluginCard key={plugin.namespace} plugin={plugin} onEdit={() => edit(plugin)} onChange={plugins.reload} />
        ))
      }
    </ListPage>
  );
}

interface CardProps {
  plugin: Plugin;
  onEdit: () => void;
  onChange: () => Promise<void>;
}

/** An MCP server: its state, its tools, and its actions. */
function PluginCard({ plugin, onEdit, onChange }: CardProps) {
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
