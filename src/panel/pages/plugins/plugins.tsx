import { useSignal } from "@preact/signals";
import type { Plugin } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoaded } from "../../data/load.ts";
import { orgSlug } from "../../data/session.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/note.tsx";
import { Page } from "../../ui/page.tsx";
import { Waiting } from "../../ui/waiting.tsx";
import { PluginCard } from "./plugin-card.tsx";
import { PluginDialog } from "./plugin-dialog.tsx";

/** The MCP servers of the organization, whose tools its agents may have. */
export function PluginsPage() {
  const slug = orgSlug.value;
  const { value, error, reload } = useLoaded(async () => (await api.listPlugins({ orgSlug: slug })).plugins, [slug]);
  /** The plugin that is edited; null: a new one; undefined: none is. */
  const edited = useSignal<Plugin | null | undefined>(undefined);
  const plugins = value.value;
  const add = (
    <Button
      look="primary"
      onClick={() => {
        edited.value = null;
      }}
    >
      Add an MCP server
    </Button>
  );
  return (
    <Page
      title="Plugins"
      lead="MCP servers bring further tools. Which of them an agent has is chosen with the agent's tools."
      actions={plugins && plugins.length > 0 ? add : undefined}
    >
      <Failure error={error.value} retry={reload} />
      {!plugins && error.value === undefined && <Waiting />}
      {plugins?.length === 0 && (
        <Empty title="No MCP servers yet">
          <p>Many services offer one: its address and a token are all that is needed.</p>
          {add}
        </Empty>
      )}
      {plugins?.map((plugin) => (
        <PluginCard
          key={plugin.namespace}
          plugin={plugin}
          onEdit={() => {
            edited.value = plugin;
          }}
          onChange={reload}
        />
      ))}
      {edited.value !== undefined && (
        <PluginDialog
          plugin={edited.value}
          onSaved={reload}
          onClose={() => {
            edited.value = undefined;
          }}
        />
      )}
    </Page>
  );
}
