import { Button } from "./button.tsx";

interface Props {
  total: number;
  limit: number;
  offset: number;
  /** What the buttons say of lists that don't begin with the newest. */
  newer?: string;
  older?: string;
  onOffset: (offset: number) => void;
}

/** Goes through the pages of a list; nothing for a list of one page. */
export function Pager({ total, limit, offset, newer = "Newer", older = "Older", onOffset }: Props) {
  if (total <= limit && offset === 0) return null;
  return (
    <nav class="pager" aria-label="Pages of the list">
      <Button small disabled={offset === 0} onClick={() => onOffset(Math.max(0, offset - limit))}>
        {newer}
      </Button>
      <span class="soft">
        {total === 0 ? 0 : offset + 1}–{Math.min(offset + limit, total)} of {total}
      </span>
      <Button small disabled={offset + limit >= total} onClick={() => onOffset(offset + limit)}>
        {older}
      </Button>
    </nav>
  );
}
