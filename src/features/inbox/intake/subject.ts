import type { Incoming, MessengerName } from "../../../core/channels/messengers.ts";
import { type SubjectKey, subjectKey } from "../../../core/channels/subjects.ts";

/**
 * The end user whose memories and budget a turn uses (decisions §5): the person in a private chat, else the
 * conversation. The readers of a group must not learn what the agent knows about one person.
 */
export function subjectOf(
  { channel, ref }: { channel: MessengerName; ref: string },
  { isPrivate, sender }: Pick<Incoming, "isPrivate" | "sender">,
): SubjectKey {
  return isPrivate ? subjectKey(channel, sender) : subjectKey("conversation", ref);
}
