import { useEffect, useRef } from "preact/hooks";

interface Props {
  /** What it is a share of, for those who hear the page. */
  label: string;
  /** From 0 to 1; what is more fills the bar. */
  share: number;
  look?: "warn" | "bad" | undefined;
}

/** How much of something is used, beside a number that says the same. */
export function Bar({ label, share, look }: Props) {
  const filled = useRef<HTMLSpanElement>(null);
  const percent = Math.max(0, Math.min(100, Math.round(share * 100)));
  useEffect(() => {
    if (filled.current) filled.current.style.inlineSize = `${percent}%`;
  }, [percent]);
  return (
    <span class={`bar ${look ?? ""}`} role="img" aria-label={`${label}: ${percent}%`}>
      <span ref={filled} />
    </span>
  );
}
