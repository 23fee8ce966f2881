import { Tabs } from "../../../../ui/tabs.tsx";
import type { TabProps } from "../tab-props.ts";
import { Backlog } from "./backlog.tsx";
import { Events } from "./events.tsx";
import { RoomSettings } from "./room-settings.tsx";
import { Sources } from "./sources.tsx";

/** The agent's own work: what other systems report, what waits, and what came of it. */
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
