/** The rules for turns of a channel. */
interface ChannelTraits {
  /** Whether the operator's hooks run, since the agent talks to a person (decisions §4, "Hooks"). */
  hooks: boolean;
  /** Whether a conversation gets a title, a summary and memories. */
  learns: boolean;
  /** Whether a tool call may wait for approval, since a person can decide. */
  approvals: boolean;
  /** Whether the channel works while the agent is inactive (decisions §4). */
  whileInactive: boolean;
  /** Whether the reply is sent after the turn was recorded; `response_sent` hooks then run by `replySent`. */
  sendsLater: boolean;
}

const people = { hooks: true, learns: true, approvals: true, whileInactive: false, sendsLater: false };
const messenger = { ...people, sendsLater: true };
const alone = { ...people, hooks: false, learns: false };

/** The channels of turns. */
export const channels = {
  web: people,
  playground: { ...people, whileInactive: true },
  telegram: messenger,
  slack: messenger,
  whatsapp: messenger,
  /** A call from another agent. */
  agent: { ...alone, approvals: false },
  scheduled: alone,
  room: alone,
  /** A background call of the fast model, which is no turn. */
  background: { ...alone, approvals: false },
} as const satisfies Record<string, ChannelTraits>;

export type Channel = keyof typeof channels;

/** The channel with a stored name. Throws for a name that this release does not know. */
export function channelOf(name: string): Channel {
  if (!Object.hasOwn(channels, name)) throw new Error(`There is no channel ${name}`);
  return name as Channel;
}

/** The names of the channels that have a trait. */
export function channelsThat(trait: keyof ChannelTraits): Channel[] {
  return (Object.keys(channels) as Channel[]).filter((channel) => channels[channel][trait]);
}
