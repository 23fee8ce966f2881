import type { Incoming } from "../../../core/channels/messengers.ts";

/**
 * Whose memories and budget a turn touches (decisions §5): in a private chat the person's, else the conversation's. What
 * the agent knows of one person is not for those who read along.
 */
export function subjectOf(ref: string, { isPrivate, sender }: Pick<Incoming, "isPrivate" | "sender">): string {
  return isPrivate ? sender : ref;
}
