import { useEffect } from "preact/hooks";
import { goOnTo, goTo } from "../../data/route.ts";
import { Button } from "../button.tsx";
import { pageText } from "../text/numbers.ts";

interface Props {
  total: number;
  limit: number;
  offset: number;
  /** The texts of the buttons, for lists that do not begin with the newest item. */
  newer?: string | undefined;
  older?: string | undefined;
  /** Shows another page; `go` navigates, for a list with its offset in the address. */
  onOffset: (offset: number, go: typeof goTo) => void;
}

/** The paging of a list; nothing when there is a single page. */
export function Pager({ total, limit, offset, newer = "Newer", older = "Older", onOffset }: Props) {
  // Leaves a page whose rows were deleted. An entry in the history would lead back to that page.
  const isBeyond = offset > 0 && offset >= total;
  useEffect(() => {
    if (isBeyond) onOffset(Math.max(0, Math.ceil(total / limit) - 1) * limit, goOnTo);
  }, [isBeyond, total, limit]);
  if (isBeyond || (total <= limit && offset === 0)) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <Button small disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - limit), goTo)}>
        {newer}
      </Button>
      <span class="soft">{pageText({ total, limit, offset })}</span>
      <Button small disabled={offset + limit >= total} onClick={() => onOffset(offset + limit, goTo)}>
        {older}
      </Button>
    </nav>
  );
}
