import type { MessengerAccount } from "../../../core/channels/messengers.ts";
import type { Clock } from "../../../core/ports.ts";

/** The typing indicator of a turn. */
export interface Typing {
  account: Pick<MessengerAccount, "typing" | "typingMs">;
  channelId: string;
  /** How long the turn runs before the indicator is shown. */
  delayMs: number;
}

/** Shows the typing indicator until the returned function is called. Failures are ignored. */
export function showTyping(clock: Clock, { account, channelId, delayMs }: Typing): () => void {
  const { typingMs } = account;
  if (typingMs === null) return () => {};
  const over = new AbortController();
  let cancel = () => {};
  const show = () => {
    account.typing(channelId, over.signal).catch(() => {});
    cancel = clock.after(typingMs, show);
  };
  cancel = clock.after(delayMs, show);
  return () => {
    cancel();
    over.abort(new Error("The turn is over"));
  };
}
