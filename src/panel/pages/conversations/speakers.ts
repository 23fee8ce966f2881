import type { Conversation } from "../../../client/index.ts";

/** The channels of conversations, with their names for people. */
export const channelNames: Readonly<Record<string, string>> = {
  web: "Web",
  playground: "Playground",
  telegram: "Telegram",
  slack: "Slack",
  whatsapp: "WhatsApp",
  agent: "Other agents",
  scheduled: "Tasks",
  room: "Room",
};

const speakers = { webhook: "Event", room: "Room", scheduled: "Task" } as const;

/** The name for the other speaker in a conversation with an agent. */
export function speakerOf({ channel, source }: Pick<Conversation, "channel" | "source">): string {
  if (source !== "user") return speakers[source];
  if (channel === "playground") return "Operator";
  return channel === "agent" ? "Another agent" : "Person";
}
