import { api } from "../../data/api.ts";
import { useList } from "../../data/list.ts";
import { orgSlug } from "../../data/session.ts";
import { ListPage } from "../../ui/list/list.tsx";
import { PluginCard } from "./plugin-card.tsx";
import { PluginDialog } from "./plugin-dialog.tsx";

/** The MCP servers of the organization, whose tools its agents may have. */
export function PluginsPage() {
  const slug = orgSlug.value;
  const plugins = useList("plugins", () => api.listPlugins({ orgSlug: slug }), [slug]);
  return (
    <ListPage
      title="Plugins"
      lead="MCP servers bring further tools. Which of them an agent has is chosen with the agent's tools."
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
