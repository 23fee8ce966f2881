import { addressed } from "../data/api.ts";
import { readApprovals, waitingApprovals } from "../data/approvals.ts";
import { useLoaded, useRefresh } from "../data/list/load.ts";
import { route } from "../data/route.ts";
import { countText } from "../ui/text/numbers.ts";

const everyMs = 15_000;

/** The number of tool calls that wait for approval, next to their link; nothing for none. */
export function WaitingCount() {
  const { reload } = useLoaded(() => readApprovals(1), [addressed.value, route.value[0]]);
  useRefresh(reload, everyMs);
  const count = waitingApprovals.value ?? 0;
  if (count === 0) return null;
  return (
    <span class="badge warn count">
      {countText(count)}
      <span class="unseen"> {count === 1 ? "waits" : "wait"}</span>
    </span>
  );
}
