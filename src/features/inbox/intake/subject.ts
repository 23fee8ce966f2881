import type { Incoming, MessengerName } from "../../../core/channels/messengers.ts";
import { type SubjectKey, subjectKey } from "../../../core/channels/subjects.ts";

/**
 * Whose memories and budget a turn touches (decisions §5): in a private chat the person's, else the conversation's. What
 * the agent knows of one person is not for those who read along.
 */
export function subjectOf(
  { channel, ref }: { channel: MessengerName; ref: string },
  { isPrivate, sender }: Pick<Incoming, "isPrivate" | "sender">,
): SubjectKey {
  return isPrivate ? subjectKey(channel, sender) : subjectKey("conversation", ref);
}
