import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list.ts";
import { List } from "../../../../ui/list/list.tsx";
import { SourceCard } from "./source-card.tsx";
import { SourceDialog } from "./source-dialog.tsx";

/** The systems that report events, and which of their events matter. */
export function Sources({ slug }: { slug: string }) {
  const sources = useList("sources", async () => ({ sources: await api.listEventSources({ slug }) }), [slug]);
  return (
    <List
      of={sources}
      empty={[
        "No event sources yet",
        "A source is one system that reports events: a shop, a repository, a monitor, a form. It gets an address.",
      ]}
      add={{ label: "New source", to: "agent.room:write" }}
      dialog={(source, props) => <SourceDialog slug={slug} source={source} {...props} />}
    >
      {(items) =>
        items.map((source) => <SourceCard key={source.id} slug={slug} source={source} onChange={sources.reload} />)
      }
    </List>
  );
}
