import { api } from "../../../../data/api.ts";
import { useList } from "../../../../data/list/list.ts";
import { List } from "../../../../ui/list/list.tsx";
import { Tabs } from "../../../../ui/tabs.tsx";
import type { TabProps } from "../tab-props.ts";
import { Backlog } from "./backlog.tsx";
import { Events } from "./events.tsx";
import { RoomSettings } from "./room-settings.tsx";
import { SourceCard } from "./source-card.tsx";
import { SourceDialog } from "./source-dialog.tsx";

/** The agent's own work: the sources of events, the backlog, and the ledger. */
export function RoomTab({ agent: { slug }, rest: [part] }: TabProps) {
  return (
    <>
      <Tabs
        label="Parts of the Room"
        path={["agents", slug, "room"]}
        current={part}
        tabs={[
          { name: undefined, title: "Room" },
          { name: "sources", title: "Event sources" },
          { name: "events", title: "Events" },
          { name: "backlog", title: "Backlog" },
        ]}
      />
      {part === undefined && <RoomSettings slug={slug} />}
      {part === "sources" && <Sources slug={slug} />}
      {part === "events" && <Events slug={slug} />}
      {part === "backlog" && <Backlog slug={slug} />}
    </>
  );
}

/** The systems that report events, with the definitions of their events. */
function Sources({ slug }: { slug: string }) {
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
