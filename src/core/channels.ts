/** What holds for the turns of a channel. */
interface ChannelTraits {
  /** The operator's hooks run: somebody is talked to (decisions §4, "Hooks"). */
  hooks: boolean;
  /** What a user says is worth a title, a summary and memories. */
  learns: boolean;
  /** A call may wait for a person's decision; elsewhere nobody could give one. */
  approvals: boolean;
  /** The channel works while the agent is inactive (decisions §4). */
  whileInactive: boolean;
  /** The reply leaves after the turn was recorded, so that `response_sent` waits for `replySent`. */
  sendsLater: boolean;
}

const people = { hooks: true, learns: true, approvals: true, whileInactive: false, sendsLater: false };
const messenger = { ...people, sendsLater: true };
const alone = { ...people, hooks: false, learns: false };

/** Every channel that a turn may come by. */
export const channels = {
  web: people,
  playground: { ...people, whileInactive: true },
  telegram: messenger,
  slack: messenger,
  whatsapp: messenger,
  /** Another agent asks. */
  agent: { ...alone, approvals: false },
  scheduled: alone,
  room: alone,
  /** A call of a fast model, which is no turn of anybody's. */
  background: { ...alone, approvals: false },
} as const satisfies Record<string, ChannelTraits>;

export type Channel = keyof typeof channels;

/** The channel of a stored name. Throws for a name that this release does not know. */
export function channelOf(name: string): Channel {
  if (!Object.hasOwn(channels, name)) throw new Error(`There is no channel ${name}`);
  return name as Channel;
}

/** The names of the channels that have a trait. */
export function channelsThat(trait: keyof ChannelTraits): Channel[] {
  return (Object.keys(channels) as Channel[]).filter((channel) => channels[channel][trait]);
}
