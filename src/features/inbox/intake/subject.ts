import type { Incoming, MessengerName } from "../../../core/channels/messengers.ts";
import { type SubjectKey, subjectKey } from "../../../core/channels/subjects.ts";

/**
 * The end user whose memories and budget a turn uses (decisions §5): in a private chat the person, else the
 * conversation. The agent's knowledge of one person is not for the other readers of a group.
 */
export function subjectOf(
  { channel, ref }: { channel: MessengerName; ref: string },
  { isPrivate, sender }: Pick<Incoming, "isPrivate" | "sender">,
): SubjectKey {
  return isPrivate ? subjectKey(channel, sender) : subjectKey("conversation", ref);
}
