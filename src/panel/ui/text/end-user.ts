import type { Memory } from "../../../client/index.ts";

export type EndUserChannel = NonNullable<Memory["subjectChannel"]>;

const labels: Record<EndUserChannel, string> = {
  web: "Web",
  telegram: "Telegram",
  slack: "Slack",
  whatsapp: "WhatsApp",
  conversation: "A conversation",
};

/** The channels of end users, for a select. */
export const endUserChannels = Object.entries(labels).map(([value, label]) => ({ value, label }));

/** The name of an end user. Equal ids of two channels are two people, so the name of a messenger is added. */
export function endUserText(id: string, channel: EndUserChannel | null): string {
  return channel === null || channel === "web" || channel === "conversation" ? id : `${id} (${labels[channel]})`;
}
